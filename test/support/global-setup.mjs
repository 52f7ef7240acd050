// Before the first spec: one PostgreSQL for the whole run, a temporary one unless a URL is given.
import '../../scripts/register-typescript.mjs';

export default async function setUp() {
  const { openTestRun } = await import('./test-run.ts');
  globalThis.rhythmTestRun = await openTestRun();
}

// Before the first spec: one PostgreSQL for the whole run, a throwaway one unless an address is given.
import '../../scripts/register-typescript.mjs';

export default async function setUp() {
  const { openTestRun } = await import('./test-run.ts');
  globalThis.rhythmTestRun = await openTestRun();
}

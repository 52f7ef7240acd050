// Before the first spec: one PostgreSQL for the whole run, a throwaway one unless an address is given.
import { register } from 'node:module';

register('../../scripts/typescript-loader.mjs', import.meta.url);

export default async function setUp() {
  const { openTestRun } = await import('./test-run.ts');
  globalThis.rhythmTestRun = await openTestRun();
}

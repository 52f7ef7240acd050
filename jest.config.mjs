// Jest for every spec of the repository: native ESM (Nest 12 is ESM-only), compiled by swc; `npm run check` checks the types.
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));

export default {
  maxWorkers: Math.max(2, availableParallelism()),
  testTimeout: 30_000,
  reporters: ['default', '<rootDir>/test/support/count-reporter.mjs'],
  testEnvironment: 'node',
  roots: ['src', 'libs', 'migrations', 'sample-app', 'test', 'bench']
    .filter((room) => existsSync(new URL(room, import.meta.url)))
    .map((room) => `<rootDir>/${room}`),
  setupFiles: ['<rootDir>/test/support/generated-seed.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  // Not in the temp folder, where a run must leave nothing.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, sourceMaps: 'inline' }] },
};

// Every spec of the repository: native ESM (Nest 12 is ESM-only), compiled by swc, types checked by `npm run check`.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

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
  // Not in the temp folder, where the run is to leave nothing.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        sourceMaps: 'inline',
        module: { type: 'es6' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
      },
    ],
  },
};

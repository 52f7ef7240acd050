// The door of the embedded PostgreSQL: a real server from npm, for development and tests.

export { EmbeddedPostgresError } from './embedded-error.js';
export { isRunning } from './orphans.js';
export { type EmbeddedOptions, type EmbeddedServer, startEmbedded } from './start-embedded.js';

// Every migration, oldest first, as the explicit array that a DataSource needs.

import { Initial1763424000000 } from './1763424000000-initial.js';

/** The migrations of Rhythm's schema. */
export const migrations = [Initial1763424000000];

/** The version that the newest migration leaves in `schema_info`. */
export const SCHEMA_VERSION = 1;

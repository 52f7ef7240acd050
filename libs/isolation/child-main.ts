// What the process of isolated flows runs.

import { serveWorker } from './child.js';

serveWorker();

// A script that starts a server, never stops it, and has nothing else to do.
import { startEmbedded } from '../../src/embedded/start-embedded.js';

await startEmbedded({ durable: false });

// A script that starts a server, never stops it, and has nothing else to do.
import { startEmbedded } from '../../libs/embedded/index.js';

await startEmbedded({ durable: false });

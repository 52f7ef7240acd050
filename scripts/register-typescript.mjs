// `node --import ./scripts/register-typescript.mjs some.ts`: runs our TypeScript without a build. Scripts import it before they import ours.
import * as modules from 'node:module';
import * as hooks from './typescript-loader.mjs';

// Node 20 has only `register`, and Node 26 warns about it in every process.
if (modules.registerHooks) modules.registerHooks(hooks);
else modules.register('./typescript-loader.mjs', import.meta.url);

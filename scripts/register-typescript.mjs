// `node --import ./scripts/register-typescript.mjs some.ts`: runs our TypeScript without a build.
import { register } from 'node:module';

register('./typescript-loader.mjs', import.meta.url);

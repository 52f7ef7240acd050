// `npm run docs:cli`: writes docs/cli.md from the command definitions.
import { writeFileSync } from 'node:fs';
import { register } from 'node:module';

register('./typescript-loader.mjs', import.meta.url);
await import('reflect-metadata');
const { cliPage } = await import('../src/cli/cli-page.ts');
writeFileSync(new URL('../docs/cli.md', import.meta.url), cliPage());

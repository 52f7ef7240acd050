// `npm run docs:cli`: writes docs/cli.md from the command definitions.
import { writeFileSync } from 'node:fs';
import './register-typescript.mjs';

await import('reflect-metadata');
const { cliPage } = await import('../src/cli/cli-page.ts');
writeFileSync(new URL('../docs/cli.md', import.meta.url), cliPage());

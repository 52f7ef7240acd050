// `npm run docs:cli`: writes docs/cli.md from the command definitions.
import { writeFileSync } from 'node:fs';
import './register-typescript.mjs';

await import('reflect-metadata');
const { docsPage } = await import('../src/cli/docs-page.ts');
writeFileSync(new URL('../docs/cli.md', import.meta.url), docsPage());

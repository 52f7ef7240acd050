// `npm run build`: the package as ESM and as CommonJS, each with its types, into dist.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const outputs = [
  { folder: 'dist/esm', config: 'tsconfig.build.json', type: 'module' },
  { folder: 'dist/cjs', config: 'tsconfig.cjs.json', type: 'commonjs' },
];

const built = await Promise.all(outputs.map(build));
process.exitCode = built.every(Boolean) ? 0 : 1;

async function build({ folder, config, type }) {
  rmSync(new URL(folder, root), { recursive: true, force: true });
  const passed = await compile(config);
  // Tells Node how to read the .js files in this folder, regardless of the package's own type.
  if (passed) writeFileSync(new URL(`${folder}/package.json`, root), `${JSON.stringify({ type })}\n`);
  console.log(`${passed ? 'built ' : 'FAILED'}  ${folder}`);
  return passed;
}

function compile(config) {
  const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));
  const child = spawn(process.execPath, [compiler, '-p', config], { cwd: root, stdio: 'inherit' });
  return new Promise((resolve) => child.on('close', (code) => resolve(code === 0)));
}

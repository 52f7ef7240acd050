// `npm run check`: format and lint, types, room borders, the lock file and the generated grammar. Runs all, then lists what failed.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findViolations } from './borders.mjs';
import { grammarDiffers } from './grammar.mjs';
import { lockfileProblems } from './lockfile.mjs';

const root = new URL('../', import.meta.url);
const program = (path, ...args) =>
  spawnSync(process.execPath, [fileURLToPath(new URL(path, root)), ...args], { cwd: root, stdio: 'inherit' }).status === 0;
const none = (problems) => {
  for (const problem of problems) console.error(problem);
  return problems.length === 0;
};

const checks = {
  'format and lint': () => program('node_modules/@biomejs/biome/bin/biome', 'check', '.'),
  types: () => program('node_modules/typescript/bin/tsc', '--noEmit', '-p', '.'),
  'room borders': () => none(findViolations(fileURLToPath(root)).map(({ file, line, message }) => `${file}:${line}  ${message}`)),
  'lock file': () => none(lockfileProblems(root)),
  grammar: () => none([grammarDiffers(root)].filter(Boolean)),
};

const failed = [];
for (const [name, check] of Object.entries(checks)) {
  const passed = check();
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name}`);
  if (!passed) failed.push(name);
}
if (failed.length > 0)
  console.error(`\nnpm run check: ${failed.join(', ')} failed. To fix most problems of format and lint: npm run format`);
process.exitCode = failed.length > 0 ? 1 : 0;

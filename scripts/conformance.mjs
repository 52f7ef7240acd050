// `npm run conformance`: every golden and a number of generated programs, in Flow and in V8; prints counts and every difference.
// Options: --runs N (generated programs), --seed N, --only string (goldens whose path contains it), --write (fill in `// expect:` from V8),
// --v8 (run the goldens in V8 only).
import { parseArgs } from 'node:util';
import './register-typescript.mjs';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    v8: { type: 'boolean', default: false },
  },
});
const { runConformance } = await import('../test/conformance/command.ts');
const { runs, seed, ...rest } = values;
process.exitCode = (await runConformance({ ...rest, runs: Number(runs), seed: seed === undefined ? undefined : Number(seed) })) ? 0 : 1;

// The borders between the rooms are respected, and every kind of violation is found and explained.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';

interface Violation {
  file: string;
  line: number;
  message: string;
}
// A variable, so that the compiler does not look for types of this script.
const script = '../scripts/borders.mjs';
const { findViolations } = (await import(script)) as { findViolations(root: string): Violation[] };

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

it('this repository has no violation', () => {
  expect(findViolations(fileURLToPath(new URL('../', import.meta.url)))).toEqual([]);
});

describe('a violation is found and explained:', () => {
  it.each([
    ['libs/flow/vm/run.ts', `import { Injectable } from '@nestjs/common';`, /libs\/flow may import only moo and nearley.*pure/],
    ['libs/flow/vm/run.ts', `import { readFileSync } from 'node:fs';`, /may import only moo and nearley, not 'node:fs'/],
    ['libs/flow/vm/run.ts', `import { claim } from '../../store/index.js';`, /libs\/flow may not import from libs\/store.*no other room/],
    ['libs/flow/vm/run.ts', `export * from '../../../src/index.js';`, /libs\/flow may not import from src/],
    [
      'libs/flow/parse/lexer.ts',
      `import { checkSyntax } from '../check/index.js';`,
      /libs\/flow\/parse may not import libs\/flow\/check\/index.ts; it may use diagnostics /,
    ],
    ['libs/flow/check/entry.ts', `import { Vm } from '../vm/vm.js';`, /libs\/flow\/check may not import libs\/flow\/vm\/vm.ts/],
    ['libs/flow/vm/vm.ts', `import { FlowRun } from '../run.js';`, /libs\/flow\/vm may not import libs\/flow\/run.ts/],
    ['libs/flow/new-folder/one.ts', `import { parse } from '../parse/index.js';`, /libs\/flow\/new-folder has no row in the table/],
    ['libs/store/claim.ts', `import { Logger } from '@nestjs/common';`, /libs\/store may not import '@nestjs\/common'.*nothing else/],
    ['libs/store/claim.ts', `import type { Program } from '../flow/index.js';`, /libs\/store may not import from libs\/flow/],
    ['libs/store/claim.ts', `type Host = import('../../src/worker.js').Host;`, /libs\/store may not import from src/],
    [
      'libs/engine/worker.ts',
      `import { Injectable } from '@nestjs/common';`,
      /libs\/engine may not import '@nestjs\/common'.*without Nest/,
    ],
    ['libs/engine/worker.ts', `import { x } from '../store/run/claim-work.js';`, /libs\/engine may use libs\/store only through its door/],
    ['libs/engine/worker.ts', 'db.query("SELECT id FROM executions");', /libs\/engine must not contain SQL/],
    ['libs/engine/worker.ts', `import { x } from '../../src/errors.js';`, /libs\/engine may not import from src/],
    ['libs/embedded/start.ts', `import { Store } from '../store/index.js';`, /libs\/embedded may not import from libs\/store/],
    ['libs/errors/index.ts', `import pg from 'pg';`, /libs\/errors may import no package, not 'pg'/],
    [
      'src/signal/signal.service.ts',
      `import { x } from '../cli/main.js';`,
      /src\/signal may not import src\/cli\/main.ts; it may use config, database/,
    ],
    ['src/config/schema.ts', `import { x } from '../execution/execution.js';`, /src\/config may not import.*it may use no other folder/],
    ['src/cli/main.ts', `import { x } from '../worker/worker.host.js';`, /src\/cli may not import src\/worker\/worker.host.ts/],
    ['src/new-room/one.ts', `import { x } from '../config/schema.js';`, /src\/new-room has no row in the table/],
    [
      'migrations/1-initial.ts',
      `import { SCHEMA } from '../libs/store/index.js';`,
      /migrations may not import from libs\/store.*keep its meaning/,
    ],
    ['migrations/1-initial.ts', `import pg from 'pg';`, /migrations may import only typeorm/],
    [
      'src/worker.ts',
      `import { claimWork } from '../libs/store/claim-work.js';`,
      /src may use libs\/store only through its door libs\/store\/index.ts/,
    ],
    ['src/worker.ts', `const vm = import('../libs/flow/vm/run.js');`, /src may use libs\/flow only through its door/],
    ['src/worker.ts', `import { waitFor } from '../test/support/index.js';`, /src may not import from test/],
    ['src/worker.ts', `import fc from 'fast-check';`, /is missing in dependencies and peerDependencies of package.json/],
    ['src/worker.ts', `import { x } from '../scripts/check.js';`, /is outside every room/],
    ['src/worker.ts', `import { x } from './neighbour';`, /needs its extension/],
    ['src/worker.ts', 'db.query("SELECT id FROM executions");', /src must not contain SQL/],
    ['src/worker.ts', 'db.query(`delete from $' + '{table} where id = 1`);', /src must not contain SQL/],
    ['src/worker.ts', 'export const here = import.meta.url;', /CommonJS/],
    ['src/worker.ts', `const fs = require('node:fs');`, /write import/],
    ['src/worker.ts', 'await start();', /top level/],
    ['sample-app/main.ts', `import { TaskRegistry } from '../src/tasks/task.registry.js';`, /sample-app may use src only through its door/],
    ['sample-app/main.ts', `import { compile } from '../libs/flow/index.js';`, /sample-app may not import from libs\/flow/],
  ])('%s with %s', (file, text, message) => {
    const found = findViolations(tree({ [file]: `// A file.\n${text}\n` }));
    expect(found).toEqual([{ file, line: 2, message: expect.stringMatching(message) }]);
  });

  it('allowed imports are not reported', () => {
    const root = tree({
      'libs/flow/parse/parse.ts': `import moo from 'moo';\nimport { Ast } from './ast.js';\nimport { FlowError } from '../errors.js';`,
      'libs/flow/run.ts': `import { Vm } from './vm/vm.js';\nimport { readSnapshot } from './snapshot/read.js';`,
      'libs/flow/parse/messages.spec.ts': `import { check } from '../check/index.js';`,
      'libs/flow/parse/parse.spec.ts': `import { it } from '@jest/globals';\nimport { readFileSync } from 'node:fs';\nawait it();`,
      'libs/store/migrate.ts': `import { migrations } from '../../migrations/index.js';\nimport pg from 'pg';\nconst SQL = 'select 1 from x';`,
      'migrations/index.ts': `import { Initial } from './1-initial.js';\nimport { MigrationInterface } from 'typeorm';`,
      'src/worker.ts': `import { claimWork } from '../libs/store/index.js';\nimport { Module } from '@nestjs/common';\nasync () => { await 1; };`,
      'src/worker.spec.ts': `import { waitFor } from '../test/support/index.js';\nimport fc from 'fast-check';`,
      'sample-app/main.ts': `import { RhythmModule } from '../src/index.js';\nimport { RhythmModule as R } from 'nestjs-rhythm';`,
      'test/e2e.spec.ts': `import { claimWork } from '../libs/store/claim-work.js';`,
    });
    expect(findViolations(root)).toEqual([]);
  });
});

/** Creates a small repository. */
function tree(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'rhythm-borders-'));
  folders.push(root);
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({ dependencies: { pg: '*', moo: '*', nearley: '*' }, peerDependencies: { '@nestjs/common': '*', typeorm: '*' } }),
  );
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

// Snapshots of every kind, stored with their programs: they load forever and continue to the end they had when they were recorded.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { OPCODES } from '../../libs/flow/compile/opcodes.js';
import { compile, describe as describeRun, FlowSnapshotError, loadProgram, restoreRun } from '../../libs/flow/index.js';
import { type Json, ReactionTag, SNAPSHOT_VERSION, Tag } from '../../libs/flow/snapshot/format.js';
import { upgrade } from '../../libs/flow/snapshot/upgrade.js';
import { CONTEXT } from '../support/flow-driver.js';
import { continueFrom, type Outcome, type StoredRun } from './continue-from.js';
import { CORPUS_FLOWS } from './corpus-flows.js';

const FOLDER = join(process.cwd(), 'test/snapshots/corpus');
const STORED = readdirSync(FOLDER).map((file): [string, StoredRun & { outcome: Outcome }] => [
  file,
  JSON.parse(readFileSync(join(FOLDER, file), 'utf8')),
]);

describe('a stored run', () => {
  it.each(STORED)('%s continues to the end it had', (_file, stored) => {
    expect(continueFrom(stored)).toEqual(stored.outcome);
  });

  it.each(STORED)('%s continues to the same end with a restore before every turn', (_file, stored) => {
    expect(continueFrom(stored, undefined, true)).toEqual(stored.outcome);
  });

  it.each(STORED)('%s can be described', (_file, stored) => {
    const { branches, pending } = describeRun(loadProgram(stored.program), stored.snapshot);
    expect(branches.length).toBeGreaterThan(0);
    expect(pending.length).toBeGreaterThan(0);
  });

  it.each(STORED)('%s means what its source means today', (file, stored) => {
    // A newer compiler may emit other instructions; then old runs continue with the stored program, and only this check is skipped.
    const today = compile(stored.source, { file: file.replace('.json', '.flow') });
    if (today.fingerprint === loadProgram(stored.program).fingerprint) expect(continueFrom(stored, today)).toEqual(stored.outcome);
  });
});

describe('the corpus', () => {
  it('has a file for every flow that is listed, and no other', () => {
    expect(STORED.map(([file]) => file).sort()).toEqual(CORPUS_FLOWS.map(({ name }) => `${name}.json`).sort());
  });

  it('contains every kind of object and reaction of the format', () => {
    const tags = new Set<unknown>();
    const reactions = new Set<unknown>();
    const visit = (json: Json): void => {
      if (Array.isArray(json)) {
        if (typeof json[0] === 'number') tags.add(json[0]);
        if (json[0] === Tag.PENDING) for (const reaction of json.slice(2)) reactions.add((reaction as Json[])[0]);
        json.forEach(visit);
      } else if (typeof json === 'object' && json !== null) Object.values(json).forEach(visit);
    };
    for (const [, { snapshot }] of STORED) visit((JSON.parse(snapshot) as Json[]).slice(2));
    expect(Object.entries(Tag).flatMap(([name, tag]) => (tags.has(tag) ? [] : [name]))).toEqual([]);
    expect(Object.entries(ReactionTag).flatMap(([name, tag]) => (reactions.has(tag) ? [] : [name]))).toEqual([]);
  });

  it('contains every instruction, so that none can change its meaning unnoticed', () => {
    const used = new Set<number>();
    for (const [, { program }] of STORED) {
      for (const { code } of loadProgram(program).functions) {
        for (let ip = 0; ip < code.length; ip += 1 + OPCODES[code[ip]].operands.length) used.add(code[ip]);
      }
    }
    // It has a number, but no source needs it.
    const neverEmitted = ['SWAP'];
    expect(OPCODES.flatMap(({ name }, number) => (used.has(number) ? [] : [name]))).toEqual(neverEmitted);
  });
});

describe('an older format', () => {
  const [, stored] = STORED[0];
  const current = JSON.parse(stored.snapshot) as Json[];

  it('goes through every upgrade in order', () => {
    const passed: number[] = [];
    const step = (from: number) => (snapshot: Json[]) => {
      passed.push(from);
      return [from + 1, ...snapshot.slice(1)];
    };
    const upgraders = new Map([0, 1, 2].map((from) => [from, step(from)]));
    expect(upgrade([0, ...current.slice(1)], upgraders, 3)).toEqual([3, ...current.slice(1)]);
    expect(passed).toEqual([0, 1, 2]);
  });

  it('of the current version is not changed', () => {
    const [, latest] = STORED.find(([file]) => file === 'names-its-program.json')!;
    const snapshot = JSON.parse(latest.snapshot) as Json[];
    expect(snapshot[0]).toBe(SNAPSHOT_VERSION);
    expect(upgrade(snapshot)).toBe(snapshot);
  });

  it('of the first version gets an empty fingerprint', () => {
    expect(upgrade([1, 2, [], []])).toEqual([2, '', 2, [], []]);
  });

  it.each([[SNAPSHOT_VERSION + 1], [-1], [0.5], [1e9]])('of version %s, which is unknown, is refused', (version) => {
    const text = JSON.stringify([version, ...current.slice(1)]);
    expect(() => restoreRun(loadProgram(stored.program), text, { context: CONTEXT })).toThrow(FlowSnapshotError);
  });

  it('whose upgrade does not raise the version is refused instead of tried forever', () => {
    const upgraders = new Map([[0, (snapshot: Json[]) => snapshot]]);
    expect(() => upgrade([0, 1], upgraders, 1)).toThrow(FlowSnapshotError);
  });
});

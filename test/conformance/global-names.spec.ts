// Every global name that V8 has is one of Flow's or is refused, even under `typeof`: its result would not be "undefined".
import { execFile } from 'node:child_process';
import { builtinModules } from 'node:module';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { check } from '../../libs/flow/index.js';
import { ensureOracle } from '../oracle/ensure-oracle.js';

const INSTALLING = 180_000;

it(
  'typeof of a global name of V8 that Flow does not have is refused',
  async () => {
    const { stdout } = await promisify(execFile)(await ensureOracle(), ['-p', 'JSON.stringify(Object.getOwnPropertyNames(globalThis))']);
    // A script that is given on the command line has the modules of Node, and its own module, as variables too.
    const local = new Set([...builtinModules, 'module', 'exports', 'require', '__filename', '__dirname']);
    const names = (JSON.parse(stdout) as string[]).filter((name) => /^\w+$/.test(name) && !local.has(name));
    expect(names.length).toBeGreaterThan(100);
    const accepted = names.filter((name) => check(`return typeof ${name}`).length === 0);
    const known = accepted.filter((name) => check(`return ${name}`).length === 0);
    expect(accepted.filter((name) => !known.includes(name))).toEqual([]);
    expect(known).toContain('Math');
  },
  INSTALLING,
);

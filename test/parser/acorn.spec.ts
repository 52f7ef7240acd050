// The parser's tree is acorn's tree: what Flow accepts means what it means in JavaScript.

import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse as acornParse } from 'acorn';
import { parse } from '../../libs/flow/parse/index.js';
import { ACCEPTED } from './accepted.js';

function acornTree(source: string): unknown {
  return plain(acornParse(source, { ecmaVersion: 2024, sourceType: 'module', allowReturnOutsideFunction: true }));
}

/** Acorn's nodes are instances of a class; only their fields count. */
function plain(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree));
}

describe('the syntax tree', () => {
  it.each(ACCEPTED.map((source) => [JSON.stringify(source), source]))('is that of acorn for %s', (_, source) => {
    const { ast, faults } = parse(source);
    expect(faults).toEqual([]);
    expect(plain(ast)).toEqual(acornTree(source));
  });

  it('is that of acorn for every golden program that Flow accepts', () => {
    const folder = new URL('../conformance/goldens/', import.meta.url);
    const different: string[] = [];
    let same = 0;
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.flow')) continue;
      const source = readFileSync(new URL(name, folder), 'utf8');
      // Names that are declared twice are refused by acorn itself, by Flow only later.
      if (/^\/\/ error /m.test(source)) continue;
      const { ast } = parse(source);
      if (ast?.body.some(({ type }) => type === 'WorkflowEntry')) continue;
      if (isDeepStrictEqual(plain(ast), acornTree(source))) same += 1;
      else different.push(name);
    }
    expect(different).toEqual([]);
    expect(same).toBeGreaterThan(500);
  });

  it('has the entry form as its one extension', () => {
    const { ast } = parse('const a = 1\nworkflow(ctx, { id }) {\n  return await a\n}');
    expect(ast?.body.map(({ type }) => type)).toEqual(['VariableDeclaration', 'WorkflowEntry']);
    expect(ast?.body[1]).toMatchObject({ type: 'WorkflowEntry', start: 12, params: [{ name: 'ctx' }, { type: 'ObjectPattern' }] });
  });

  it('keeps words that only begin like keywords as names', () => {
    const { ast } = parse('letter = 5');
    expect(ast?.body[0]).toMatchObject({ expression: { type: 'AssignmentExpression', left: { name: 'letter' } } });
  });
});

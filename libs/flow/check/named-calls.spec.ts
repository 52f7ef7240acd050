// Literal names of durable calls are found everywhere in a source.

import { describe, expect, it } from '@jest/globals';
import { namedCalls } from './named-calls.js';

const names = (source: string) => namedCalls(source).map(({ kind, name, line, column }) => `${kind} ${name} ${line}:${column}`);

describe('the named calls of a source', () => {
  it('are found in every construct, in source order', () => {
    const source = [
      'const a = await Task.run("charge", { n: 1 })',
      'async function f(x = await Task.run(`notify`)) { return [...(await Workflow.run("ship"))] }',
      'if (a) { for (const x of [1]) await f(() => task("old", x)) }',
    ].join('\n');
    expect(names(source)).toEqual(['task charge 1:17', 'task notify 2:28', 'workflow ship 2:68', 'task old 3:45']);
  });

  it('are not those whose name is computed', () => {
    expect(names('const n = "x"\nawait Task.run(n)\nawait Task.run("a" + n)\nawait Task.all([])')).toEqual([]);
  });

  it('of a source that does not parse are none', () => {
    expect(names('await Task.run("a"')).toEqual([]);
  });
});

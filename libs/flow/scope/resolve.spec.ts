// Scopes: wrong names are refused with a place, a reason and advice.

import { describe, expect, it } from '@jest/globals';
import { check } from '../index.js';

const faults = (source: string) => check(source).map(({ code, line, column, advice }) => ({ code, at: `${line}:${column}`, advice }));

describe('a name', () => {
  it.each([
    ['const total = 1\nreturn totl', 'FLOW_UNDECLARED', '2:8', 'Did you mean total?'],
    ['return Mth.max(1)', 'FLOW_UNDECLARED', '1:8', 'Did you mean Math?'],
    ['return zzzzzz', 'FLOW_UNDECLARED', '1:8', 'Declare it first: let zzzzzz = ….'],
    ['return fetch("x")', 'FLOW_UNDECLARED', '1:8', 'A flow does no I/O: call it in a task and write await Task.run("name", input).'],
    ['{ let inner = 1 }\nreturn inner', 'FLOW_UNDECLARED', '2:8', 'Declare it first: let inner = ….'],
    ['let x\nlet x', 'FLOW_REDECLARED', '2:5', 'Use another name, or assign to it: x = ….'],
    ['function f(a) { let a }', 'FLOW_REDECLARED', '1:21', 'Use another name, or assign to it: a = ….'],
    ['try {} catch ({ e }) { const e = 1 }', 'FLOW_REDECLARED', '1:30', 'Use another name, or assign to it: e = ….'],
    ['switch (1) { case 1: let a; case 2: let a }', 'FLOW_REDECLARED', '1:41', 'Use another name, or assign to it: a = ….'],
    ['const a = 1\na = 2', 'FLOW_CONST_ASSIGNMENT', '2:1', 'Declare it with let a = … if it must change.'],
    ['for (const i of []) { i++ }', 'FLOW_CONST_ASSIGNMENT', '1:23', 'Declare it with let i = … if it must change.'],
    ['const a = 1;\n[a] = [2]', 'FLOW_CONST_ASSIGNMENT', '2:2', 'Declare it with let a = … if it must change.'],
    ['let Task = 1', 'FLOW_BUILT_IN_NAME', '1:5', 'Use another name.'],
    ['Inputs = 1', 'FLOW_BUILT_IN_NAME', '1:1', 'Declare a variable with another name.'],
    ['return Map.prototype', 'FLOW_NO_MEMBER', '1:12', expect.stringContaining('no prototype')],
    ['return Map.toString()', 'FLOW_NO_MEMBER', '1:12', 'Use the name of the function: fn.name.'],
    ['return Map.from([])', 'FLOW_NO_MEMBER', '1:12', 'It has groupBy, valueOf, hasOwnProperty, name, length.'],
    ['return Object.create(null)', 'FLOW_NO_MEMBER', '1:15', 'Write an object literal: {}, or { ...other } for a copy.'],
    ['return "abc".search("b")', 'FLOW_NO_MEMBER', '1:14', 'Use includes, indexOf, startsWith or split, or match inside a task.'],
    ['const f = () => 1; return f.bind(null)', 'FLOW_NO_MEMBER', '1:29', 'Write an arrow function that calls it: (value) => fn(value).'],
    ['function f() {}\nreturn f.apply(null, [])', 'FLOW_NO_MEMBER', '2:10', 'Call the function itself: fn(...values).'],
    [
      'try { return 1 } catch (e) { return e.constructor.name }',
      'FLOW_NO_MEMBER',
      '1:39',
      'Use instanceof with a built-in type, typeof, or the name of an error.',
    ],
    ['const f = () => 1\nreturn f.toString()', 'FLOW_NO_MEMBER', '2:10', 'Use the name of the function: fn.name.'],
    ['return Task.run("price").total', 'FLOW_PROMISE_MEMBER', '1:26', 'Wait for it first: (await Task.run(…)).total.'],
    ['function f() { return arguments[0] }', 'FLOW_ARGUMENTS', '1:23', 'Use a rest parameter: function f(...args).'],
    ['return Task.rnu("x")', 'FLOW_NO_MEMBER', '1:13', 'Did you mean Task.run?'],
    ['JSON.x = 1', 'FLOW_BUILT_IN_CHANGE', '1:6', 'Keep the value in a variable or in an object of your own.'],
    ['Math["PI"]++', 'FLOW_BUILT_IN_CHANGE', '1:6', 'Keep the value in a variable or in an object of your own.'],
    ['[Object.keys] = [1]', 'FLOW_BUILT_IN_CHANGE', '1:9', 'Keep the value in a variable or in an object of your own.'],
    ['for (Task.run of []) {}', 'FLOW_BUILT_IN_CHANGE', '1:11', 'Keep the value in a variable or in an object of your own.'],
    ['delete JSON.stringify', 'FLOW_BUILT_IN_CHANGE', '1:13', 'Keep the value in a variable or in an object of your own.'],
    ['delete JSON?.parse', 'FLOW_BUILT_IN_CHANGE', '1:14', 'Keep the value in a variable or in an object of your own.'],
    ['function f() {}\nfunction f() {}', 'FLOW_REDECLARED', '2:10', 'Use another name, or assign to it: f = ….'],
    ['{ function f() {} function f() {} }', 'FLOW_REDECLARED', '1:28', 'Use another name, or assign to it: f = ….'],
    ['function g() { let f; function f() {} }', 'FLOW_REDECLARED', '1:32', 'Use another name, or assign to it: f = ….'],
    ['function g() { function f() {} let f }', 'FLOW_REDECLARED', '1:36', 'Use another name, or assign to it: f = ….'],
    ['return typeof Symbol', 'FLOW_UNDECLARED', '1:15', 'Symbols are not supported: use string keys.'],
    ['return typeof zzzzzz.at.all', 'FLOW_UNDECLARED', '1:15', 'Declare it first: let zzzzzz = ….'],
    ['return Timer.tomorrow()', 'FLOW_NO_MEMBER', '1:14', 'It has sleep, delay, until, toString, valueOf, hasOwnProperty.'],
  ])('is refused with advice: %s', (source, code, at, advice) => {
    expect(faults(source)).toEqual([{ code, at, advice }]);
  });

  it('is reported each time, in source order', () => {
    expect(faults('const a = 1; a = b; c = 2').map(({ at }) => at)).toEqual(['1:14', '1:18', '1:21']);
  });

  it.each([
    'const items = [1]; return items.map((task) => task)',
    'let x = 1; { let x = 2; { const x = 3 } }',
    'const f = function fact(n) { return n < 2 ? 1 : n * fact(n - 1) }; return f(3)',
    'return later(); function later() { return 1 }',
    'const Promised = 1; return Promised',
    'const { a, ...rest } = { a: 1 }; return rest',
    'const typeOf = typeof Math.max; return typeOf',
    'return [Object.hasOwnProperty("keys"), Math.toString(), Promise.name, Map.length]',
    'const own = { bind: () => 1, constructor: 2 }; return [own.bind(), own.constructor, Inputs.search, Inputs.constructor]',
    'const f = () => 1; f.bind = () => 2; f.toString = () => "f"; return [f.bind(), f.toString()]',
    'let f = () => 1; f = { bind: () => 2 }; return f.bind()',
    'const list = []; list.label = 1; return [list.label, "abc".length, `a`.at(0), (5).toFixed(1)]',
    'const task = Task.run("a"); task.cancel(); return Task.run("b").then((b) => b)',
  ])('is accepted: %s', (source) => {
    expect(check(source)).toEqual([]);
  });
});

describe('var', () => {
  it.each([
    'var a = 1\na = 2\nreturn a',
    'if (Inputs.x) { var total = 1 }\nreturn total',
    'return early\nvar early = 1',
    'for (var i = 0; i < 3; i++) {}\nreturn i',
    'for (var each of [1]) {}\nreturn each',
    'try { throw new Error("a") } catch (e) { var e = 1 }',
    'var [{ a }, ...rest] = Inputs\nvar a = 2\nreturn [a, rest]',
    'function f(n) { var n = n ?? 1; return n }',
  ])('is the only thing that is reported: %s', (source) => {
    expect([...new Set(faults(source).map(({ code }) => code))]).toEqual(['FLOW_VAR']);
  });
});

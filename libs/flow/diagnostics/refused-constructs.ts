// Refusals of JavaScript constructs that Flow leaves out, and of durable calls that could only fail.

import type { Refusal } from './refusal.js';

export const REFUSED_CONSTRUCTS = {
  FLOW_VAR: {
    message: 'var is not part of Flow: its scope ignores blocks',
    advice: 'Write let, or const if the variable never changes.',
    example: 'var a = 1',
    instead: 'let a = 1',
  },
  FLOW_CLASS: {
    message: 'class is not part of Flow: objects have no prototype chain that could be stored',
    advice: 'Write a function that returns an object with its methods.',
    example: 'class Cart { add() {} }',
    instead: 'function createCart() { return { add() {} } }',
  },
  FLOW_THIS: {
    message: '{name} is not part of Flow',
    advice: 'Pass the object as a parameter, or use the variable that holds it.',
    example: 'const o = { n: 1, get1() { return this.n } }',
    instead: 'const o = { n: 1, get1() { return o.n } }',
  },
  FLOW_NEW: {
    message: 'new works with the built-in types only',
    advice: 'Call a function that returns the object; new is for {types}.',
    example: 'function Cart() { return {} }\nreturn new Cart()',
    instead: 'function Cart() { return {} }\nreturn Cart()',
  },
  FLOW_WRAPPER: {
    message: '{name}(…) creates an object around a primitive value, which Flow does not have',
    advice: 'Use the value itself, or convert it: String(value), Number(value), Boolean(value).',
    example: 'return new String(5)',
    instead: 'return String(5)',
  },
  FLOW_NEW_TARGET: {
    message: '{name} is not part of Flow',
    advice: 'Pass what the function needs as a parameter.',
    example: 'function f() { return new.target }',
    instead: 'function f(created) { return created }',
  },
  FLOW_GENERATOR: {
    message: 'generators are not part of Flow',
    advice: 'Collect the values in an array, or take a callback.',
    example: 'function* numbers() { return 1 }',
    instead: 'function numbers() { return [1] }',
  },
  FLOW_ACCESSOR: {
    message: 'getters and setters are not part of Flow',
    advice: 'Write a method, or a plain property.',
    example: 'const o = { get total() { return 1 } }',
    instead: 'const o = { total() { return 1 } }',
  },
  FLOW_REGEX: {
    message: 'regular expressions are not part of Flow: their running time has no bound',
    advice: 'Use string methods (includes, startsWith, split, replaceAll, …), or match inside a task.',
    example: 'return /a/.test("abc")',
    instead: 'return "abc".includes("a")',
  },
  FLOW_TAGGED_TEMPLATE: {
    message: 'tagged templates are not part of Flow',
    advice: 'Call the function with the parts as arguments.',
    example: 'const tag = (s) => s\nreturn tag`abc`',
    instead: 'const tag = (s) => s\nreturn tag("abc")',
  },
  FLOW_BIGINT: {
    message: 'BigInt is not part of Flow',
    advice: 'Use a number (exact up to 2 ** 53), or keep large integers as strings and calculate in a task.',
    example: 'return 10n',
    instead: 'return 10',
  },
  FLOW_IMPORT: {
    message: 'import is not part of Flow: a workflow is one file that cannot reach others',
    advice: 'Call other code as a task: await Task.run("name", input).',
    example: 'import { a } from "b"\nreturn 1',
    instead: 'return 1',
  },
  FLOW_EXPORT: {
    message: 'export is not part of Flow: a workflow is one file, and what it returns is its result',
    advice: 'Remove the word export.',
    example: 'export const a = 1',
    instead: 'const a = 1',
  },
  FLOW_EVAL: {
    message: 'eval is not part of Flow: code is fixed when the file is compiled',
    advice: 'Write the code itself, or choose between functions in an object.',
    example: 'return eval("1")',
    instead: 'return 1',
  },
  FLOW_ARGUMENTS: {
    message: 'arguments is not part of Flow',
    advice: 'Use a rest parameter: function f(...args).',
    example: 'function f() { return arguments.length }',
    instead: 'function f(...args) { return args.length }',
  },
  FLOW_WITH: {
    message: 'with is not part of strict JavaScript',
    advice: 'Name the object, or destructure it: const { a, b } = object.',
    example: 'with (Inputs) { return 1 }',
  },
  FLOW_DEBUGGER: {
    message: 'debugger is not part of Flow: a run may continue on another machine',
    advice: 'Write console.log(…), which is kept with the run.',
    example: 'debugger',
    instead: 'console.log("here")',
  },
  FLOW_FOR_AWAIT: {
    message: 'for await is not part of Flow',
    advice: 'Loop over the array of promises and await each one inside.',
    example: 'for await (const a of [1]) {}',
    instead: 'for (const p of [1]) { const a = await p }',
  },
  FLOW_PROTO: {
    message: '__proto__: in an object literal sets the prototype in JavaScript; Flow objects have none',
    advice: 'For a key of that name write ["__proto__"]: …; to copy properties write { ...other }.',
    example: 'return { __proto__: {} }',
    instead: 'return { ["__proto__"]: {} }',
  },
  FLOW_LOCALE: {
    message: '{name} depends on the language settings of the machine and is not part of Flow',
    advice: 'Format with toFixed, padStart and toISOString, compare with < and >, or do it in a task.',
    example: 'return (1234).toLocaleString()',
    instead: 'return (1234).toFixed(2)',
  },
  FLOW_MISSING_AWAIT: {
    message: '{name}(…) returns a promise, and this statement does not wait for it',
    advice: 'Write await {name}(…).',
    example: 'Timer.sleep("1h")',
    instead: 'await Timer.sleep("1h")',
  },
  FLOW_PROMISE_MEMBER: {
    message: '{name}(…) returns a promise, which has no "{member}"',
    advice: 'Wait for it first: (await {name}(…)).{member}.',
    example: 'return Task.run("price").total',
    instead: 'return (await Task.run("price")).total',
  },
  FLOW_OPTIONS: {
    message: 'the options of {name} must be an object',
    advice: '{hint}',
    example: 'await Signal.when("paid", "2s")',
    instead: 'await Signal.when("paid", { timeout: "2s" })',
  },
  FLOW_OPTION: {
    message: '{name} has no option "{option}"',
    advice: '{hint}',
    example: 'await Task.run("charge", {}, { retries: 3 })',
    instead: 'await Task.run("charge", {}, { retry: { maxAttempts: 3 } })',
  },
  FLOW_DURATION: {
    message: 'the call would fail: {reason}',
    advice: '{hint}',
    example: 'await Timer.sleep("-5s")',
    instead: 'await Timer.sleep("5s")',
  },
} satisfies Record<string, Refusal>;

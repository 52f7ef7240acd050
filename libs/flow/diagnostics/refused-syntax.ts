// Refusals by rules of JavaScript that are checked after the grammar, and by the shape of a file.

import type { Refusal } from './refusal.js';

export const REFUSED_SYNTAX = {
  FLOW_TARGET: {
    message: 'this cannot be assigned to: {reason}',
    advice: 'Assign to a variable, a property (a.b, a[b]) or a pattern ([a, b], { a, b }).',
    example: 'f() = 1',
  },
  FLOW_PARAMETER: {
    message: 'this is not a parameter: {reason}',
    advice: 'Write names, patterns ([a, b], { a, b }), defaults (a = 1) and one ...rest at the end.',
    example: 'const f = (a.b) => 1',
    instead: 'const f = (a) => 1',
  },
  FLOW_BINDING: {
    message: 'this is not a name or a pattern: {reason}',
    advice: 'Write a name, [a, b] or { a, b }.',
    example: 'let [a.b] = [1]',
    instead: 'let [a] = [1]',
  },
  FLOW_REST: {
    message: '{reason}',
    advice: 'Write ...name once, as the last element, without a comma after it.',
    example: 'const [...a, b] = [1, 2]',
    instead: 'const [b, ...a] = [1, 2]',
  },
  FLOW_SPREAD: {
    message: 'a spread (...) is only allowed in a call, an array or an object',
    advice: 'Put it in [ ], { } or the arguments of a call.',
    example: 'const a = (...[1])',
    instead: 'const a = [...[1]]',
  },
  FLOW_EMPTY_PARENS: {
    message: 'the parentheses are empty',
    advice: 'Put a value between them, or write () => … for a function.',
    example: 'const a = ()',
    instead: 'const a = () => 1',
  },
  FLOW_PARENS_COMMA: {
    message: 'there is nothing after the comma before )',
    advice: 'Remove the comma.',
    example: 'const a = (1,)',
    instead: 'const a = (1)',
  },
  FLOW_SHORTHAND_DEFAULT: {
    message: '{name} = … in braces is the default of a destructuring pattern, not a property',
    advice: 'Write {name}: … for a property.',
    example: 'return { a = 1 }',
    instead: 'return { a: 1 }',
  },
  FLOW_ARROW: {
    message: '{reason}',
    advice: 'Write name => …, (a, b) => … or async (a, b) => … with the arrow on the same line.',
    example: 'const f = (a)\n=> a',
    instead: 'const f = (a) => a',
  },
  FLOW_NULLISH_MIX: {
    message: '?? cannot be mixed with || or && without parentheses',
    advice: 'Put parentheses around the part that is evaluated first.',
    example: 'return null ?? true || false',
    instead: 'return null ?? (true || false)',
  },
  FLOW_POWER: {
    message: 'an operator before the base of ** is ambiguous',
    advice: 'Write (-a) ** b or -(a ** b).',
    example: 'return -2 ** 2',
    instead: 'return -(2 ** 2)',
  },
  FLOW_OPTIONAL_NEW: {
    message: 'an optional chain cannot follow new',
    advice: 'Check that the value exists first.',
    example: 'return new Date?.()',
    instead: 'return new Date()',
  },
  FLOW_DELETE_NAME: {
    message: 'delete works on properties, not on variables',
    advice: 'Assign another value to the variable, or delete a property: delete a.b.',
    example: 'let a = 1\ndelete a',
    instead: 'let a = { b: 1 }\ndelete a.b',
  },
  FLOW_AWAIT_PLACE: {
    message: 'await is only allowed in an async function or at the top level',
    advice: 'Write async before the function.',
    example: 'function f() { return await 1 }',
    instead: 'async function f() { return await 1 }',
  },
  FLOW_AWAIT_PARAMETER: {
    message: 'await is not allowed in the parameters of a function',
    advice: 'Await in the body.',
    example: 'const f = async (a = await 1) => a',
    instead: 'const f = async (a) => a ?? (await 1)',
  },
  FLOW_CONST_VALUE: {
    message: 'a const needs a value',
    advice: 'Write const {name} = …, or let {name}.',
    example: 'const a',
    instead: 'const a = 1',
  },
  FLOW_PATTERN_VALUE: {
    message: 'a destructuring declaration needs a value',
    advice: 'Write = and the value after the pattern.',
    example: 'let { a }',
    instead: 'let { a } = Inputs',
  },
  FLOW_BODY: {
    message: 'a declaration cannot be the body of {name}',
    advice: 'Put it in braces: { … }.',
    example: 'if (true) let a = 1',
    instead: 'if (true) { let a = 1 }',
  },
  FLOW_ELSE: {
    message: 'this else has no if',
    advice: 'Remove it, or check the braces of the statement before it.',
    example: 'while (false) {}\nelse {}',
  },
  FLOW_THROW: {
    message: 'throw needs a value on the same line',
    advice: 'Write throw new Error("…").',
    example: 'throw\nnew Error("a")',
    instead: 'throw new Error("a")',
  },
  FLOW_BREAK: {
    message: 'break is outside of a loop or switch',
    advice: 'Use return to leave a function, or put the statement in a loop.',
    example: 'break',
  },
  FLOW_CONTINUE: {
    message: 'continue is outside of a loop',
    advice: 'Use return to leave a function, or put the statement in a loop.',
    example: 'if (true) { continue }',
  },
  FLOW_LABEL: {
    message: 'there is no label {name} around this statement',
    advice: 'Write {name}: before the loop you mean, in the same function.',
    example: 'for (;;) { break outer }',
    instead: 'outer: for (;;) { break outer }',
  },
  FLOW_LABEL_LOOP: {
    message: 'continue {name} needs a loop, and {name} does not label one',
    advice: 'Use break {name}, or put the label before a loop.',
    example: 'a: { for (;;) { continue a } }',
    instead: 'a: for (;;) { for (;;) { continue a } }',
  },
  FLOW_LABEL_TWICE: {
    message: 'the label {name} is already used around this statement',
    advice: 'Choose another label.',
    example: 'a: a: for (;;) { break a }',
    instead: 'a: for (;;) { break a }',
  },
  FLOW_DEFAULT_TWICE: {
    message: 'a switch can have only one default',
    advice: 'Merge the two.',
    example: 'switch (1) { default: default: }',
    instead: 'switch (1) { default: }',
  },
  FLOW_STRICT_PARAMS: {
    message: '"use strict" is not allowed in a function whose parameters have defaults, patterns or a rest',
    advice: 'Remove it: Flow is always strict.',
    example: 'function f(a = 1) { "use strict" }',
    instead: 'function f(a = 1) { }',
  },

  // The shape of a file
  FLOW_ENTRY_PLACE: {
    message: 'workflow(…) { … } is allowed once, at the top level',
    advice: 'Keep one entry; write the other as a function.',
    example: 'workflow(ctx, inputs) { return 1 }\nworkflow(ctx, inputs) { return 2 }',
    instead: 'workflow(ctx, inputs) { return 1 }',
  },
  FLOW_ENTRY_NAME: {
    message: 'workflow is declared here and is also the entry of the file',
    advice: 'Choose another name for the declaration.',
    example: 'function workflow() {}\nworkflow(ctx, inputs) { return 1 }',
    instead: 'function helper() {}\nworkflow(ctx, inputs) { return 1 }',
  },
  FLOW_ENTRY_MIXED: {
    message: 'besides workflow(…) { … }, only declarations are allowed at the top level',
    advice: 'Move the statement into the workflow.',
    example: 'console.log(1)\nworkflow(ctx, inputs) { return 1 }',
    instead: 'workflow(ctx, inputs) { console.log(1); return 1 }',
  },
} satisfies Record<string, Refusal>;

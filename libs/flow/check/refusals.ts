// Every reason to refuse a source text, in one table: what happened, what to write instead, and an example that a spec runs.
// `{…}` in a text is filled in with the offending name or token.

export interface Refusal {
  /** What happened and why it is refused. */
  message: string;
  /** What to write instead. */
  advice: string;
  /** The smallest program that is refused for this reason. */
  example: string;
  /** The same intent, written so that Flow accepts it. */
  instead?: string;
}

const table = {
  // Text that is no program
  FLOW_UNEXPECTED: {
    message: 'expected {expected}, found {found}',
    advice: '{hint}',
    example: 'let a = (1 + );',
    instead: 'let a = (1 + 2);',
  },
  FLOW_UNCLOSED: {
    message: 'this {open} is not closed: expected {expected}, found {found}',
    advice: 'Close it with {close}.',
    example: 'if (true) { return 1',
    instead: 'if (true) { return 1 }',
  },
  FLOW_UNCLOSED_STRING: {
    message: 'the string does not end on its line',
    advice: 'Close it with the same quote, or write a template literal (`…`) for text of several lines.',
    example: 'return "abc',
    instead: 'return "abc"',
  },
  FLOW_UNCLOSED_TEMPLATE: {
    message: 'the template literal does not end',
    advice: 'Close it with a backtick.',
    example: 'return `abc',
    instead: 'return `abc`',
  },
  FLOW_UNCLOSED_COMMENT: {
    message: 'the comment does not end',
    advice: 'Close it with */.',
    example: 'return 1 /* abc',
    instead: 'return 1 /* abc */',
  },
  FLOW_STRANGE_CHARACTER: {
    message: '{found} has no meaning here',
    advice: 'Remove it, or put it into a string.',
    example: 'let a = 1 # 2',
  },
  FLOW_HASHBANG: {
    message: 'a flow is not run as a script, so its first line cannot name an interpreter',
    advice: 'Remove the line.',
    example: '#!/usr/bin/env node\nreturn 1',
    instead: 'return 1',
  },
  FLOW_BIDI: {
    message: 'the source holds {found}, which changes the order in which text is shown and can hide what code does',
    advice: 'Remove it; inside a string or template write it as an escape: {escape}.',
    example: 'return "a\u202eb"',
    instead: 'return "a\\u202eb"',
  },
  FLOW_HTML_COMMENT: {
    message: '{found} begins an HTML comment in old scripts',
    advice: 'Write // for a comment, or put spaces between the operators.',
    example: 'let a = 1\nreturn a <!--a',
    instead: 'let a = 1\nreturn a < ! --a',
  },
  FLOW_SOURCE_TOO_LONG: {
    message: 'the source has {length} characters; the limit is {limit}',
    advice: 'Split it into several workflows that call each other with Workflow.run.',
    example: '',
  },
  FLOW_TOO_DEEP: {
    message: 'the source is nested deeper than {limit} levels',
    advice: 'Name the inner parts (a function, a const).',
    example: `return ${'['.repeat(300)}${']'.repeat(300)}`,
  },
  FLOW_TOO_MANY: {
    message: 'there are more errors than can be shown',
    advice: 'Correct the ones above first.',
    example: 'let = 1\n'.repeat(60),
  },

  // Literals and names
  FLOW_NUMBER: {
    message: '{found} is not a number: {reason}',
    advice: 'Write digits with at most single _ between them, after 0x, 0o or 0b where wanted.',
    example: 'return 1__000',
    instead: 'return 1_000',
  },
  FLOW_OCTAL: {
    message: '{found} is an octal of old scripts, which strict JavaScript does not have',
    advice: 'Write {instead}.',
    example: 'return 010',
    instead: 'return 0o10',
  },
  FLOW_ESCAPE: {
    message: 'the escape {found} is not valid: {reason}',
    advice: 'Write \\xHH, \\uHHHH or \\u{H…} with hexadecimal digits, or \\\\ for a backslash.',
    example: 'return "\\u12"',
    instead: 'return "\\u0012"',
  },
  FLOW_ESCAPED_KEYWORD: {
    message: '{name} is a reserved word and cannot be written with escapes',
    advice: 'Write the word itself, or choose another name.',
    example: 'l\\u0065t a = 1',
    instead: 'let a = 1',
  },
  FLOW_RESERVED: {
    message: '{name} is a reserved word of JavaScript and cannot be a name',
    advice: 'Choose another name.',
    example: 'let package = 1',
    instead: 'let parcel = 1',
  },

  // Constructs that Flow leaves out
  FLOW_VAR: {
    message: 'var is not part of Flow: it ignores blocks',
    advice: 'Write let, or const if it never changes.',
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
    message: '{name}(…) makes an object around a primitive value, which Flow does not have',
    advice: 'Use the value itself, or convert it: String(value), Number(value), Boolean(value).',
    example: 'return new String(5)',
    instead: 'return String(5)',
  },
  FLOW_NEW_TARGET: {
    message: '{name} is not part of Flow',
    advice: 'Pass what the function needs to know as a parameter.',
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
    advice: 'Call outside code as a task: await Task.run("name", input).',
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
    advice: 'Write the code out, or choose between functions in an object.',
    example: 'return eval("1")',
    instead: 'return 1',
  },
  FLOW_ARGUMENTS: {
    message: 'arguments is not part of Flow',
    advice: 'Take the rest of the parameters: function f(...args).',
    example: 'function f() { return arguments.length }',
    instead: 'function f(...args) { return args.length }',
  },
  FLOW_WITH: {
    message: 'with is not part of strict JavaScript',
    advice: 'Name the object, or take its properties with const { a, b } = object.',
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

  // Rules of JavaScript that the grammar leaves to later
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
    message: 'a spread (...) can stand in a call, an array or an object only',
    advice: 'Put it into [ ], { } or the arguments of a call.',
    example: 'const a = (...[1])',
    instead: 'const a = [...[1]]',
  },
  FLOW_EMPTY_PARENS: {
    message: 'the parentheses hold no expression',
    advice: 'Put a value between them, or write () => … for a function.',
    example: 'const a = ()',
    instead: 'const a = () => 1',
  },
  FLOW_PARENS_COMMA: {
    message: 'the comma before ) has nothing after it',
    advice: 'Remove the comma.',
    example: 'const a = (1,)',
    instead: 'const a = (1)',
  },
  FLOW_SHORTHAND_DEFAULT: {
    message: '{name} = … inside braces is a default of a destructuring pattern, not a property',
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
    advice: 'Put the part that belongs together into parentheses.',
    example: 'return null ?? true || false',
    instead: 'return null ?? (true || false)',
  },
  FLOW_POWER: {
    message: 'an operator before the base of ** leaves open what comes first',
    advice: 'Write (-a) ** b or -(a ** b).',
    example: 'return -2 ** 2',
    instead: 'return -(2 ** 2)',
  },
  FLOW_OPTIONAL_NEW: {
    message: 'an optional chain cannot stand after new',
    advice: 'Check for the value first.',
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
    message: 'await can only stand in an async function or at the top level',
    advice: 'Write async before the function.',
    example: 'function f() { return await 1 }',
    instead: 'async function f() { return await 1 }',
  },
  FLOW_AWAIT_PARAMETER: {
    message: 'await cannot stand in the parameters of a function',
    advice: 'Await inside the body.',
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
    message: 'a destructuring declaration needs a value to take apart',
    advice: 'Write = and the value after the pattern.',
    example: 'let { a }',
    instead: 'let { a } = Inputs',
  },
  FLOW_BODY: {
    message: 'a declaration cannot be the body of {name}',
    advice: 'Put it into braces: { … }.',
    example: 'if (true) let a = 1',
    instead: 'if (true) { let a = 1 }',
  },
  FLOW_ELSE: {
    message: 'this else belongs to no if',
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
    message: 'break stands outside of a loop or switch',
    advice: 'Use return to leave a function, or put the statement into a loop.',
    example: 'break',
  },
  FLOW_CONTINUE: {
    message: 'continue stands outside of a loop',
    advice: 'Use return to leave a function, or put the statement into a loop.',
    example: 'if (true) { continue }',
  },
  FLOW_LABEL: {
    message: 'there is no label {name} around this statement',
    advice: 'Write {name}: before the loop that is meant, in the same function.',
    example: 'for (;;) { break outer }',
    instead: 'outer: for (;;) { break outer }',
  },
  FLOW_LABEL_LOOP: {
    message: 'continue {name} needs a loop, and the label {name} is not one',
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
    message: 'a switch can have one default',
    advice: 'Join the two.',
    example: 'switch (1) { default: default: }',
    instead: 'switch (1) { default: }',
  },
  FLOW_STRICT_PARAMS: {
    message: '"use strict" cannot stand in a function whose parameters have defaults or patterns',
    advice: 'Remove it: Flow is always strict.',
    example: 'function f(a = 1) { "use strict" }',
    instead: 'function f(a = 1) { }',
  },

  // The shape of a file
  FLOW_ENTRY_PLACE: {
    message: 'workflow(…) { … } can stand at the top level only, and once',
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
    message: 'beside workflow(…) { … } the top level can hold declarations only',
    advice: 'Move the statement into the workflow.',
    example: 'console.log(1)\nworkflow(ctx, inputs) { return 1 }',
    instead: 'workflow(ctx, inputs) { console.log(1); return 1 }',
  },
} satisfies Record<string, Refusal>;

/** The stable code of a refusal. */
export type RefusalCode = keyof typeof table;

/** All refusals, by code. */
export const REFUSALS: Readonly<Record<RefusalCode, Refusal>> = table;

/** The built-in types that `new` creates. */
export const CONSTRUCTORS: readonly string[] = [
  ...[
    'Array',
    'Date',
    'Map',
    'Set',
    'Promise',
    'Error',
    'TypeError',
    'RangeError',
    'SyntaxError',
    'ReferenceError',
    'EvalError',
    'URIError',
  ],
  ...['AggregateError', 'TaskError', 'WorkflowError', 'TimeoutError', 'CancelledError'],
];

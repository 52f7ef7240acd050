// Refusals of text that is not a program: broken tokens, literals and names, and sources that are too large.

import type { Refusal } from './refusal.js';

export const REFUSED_TEXT = {
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
    advice: 'Close it with the same quote, or write a template literal (`…`) for a string of several lines.',
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
    advice: 'Remove it, or put it in a string.',
    example: 'let a = 1 # 2',
  },
  FLOW_HASHBANG: {
    message: 'a flow is not run as a script, so its first line cannot name an interpreter',
    advice: 'Remove the line.',
    example: '#!/usr/bin/env node\nreturn 1',
    instead: 'return 1',
  },
  FLOW_BIDI: {
    message: 'the source contains {found}, which changes the order in which text is displayed and can hide what code does',
    advice: 'Remove it; in a string or template, write it as an escape: {escape}.',
    example: 'return "a\u202eb"',
    instead: 'return "a\\u202eb"',
  },
  FLOW_HTML_COMMENT: {
    message: '{found} starts an HTML comment in old scripts',
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
    advice: 'Move inner parts into functions or constants.',
    example: `return ${'['.repeat(300)}${']'.repeat(300)}`,
  },
  FLOW_TOO_LARGE: {
    message: 'this function is too large: {reason}',
    advice: 'Split it into several functions.',
    example: '',
  },
  FLOW_TOO_MANY: {
    message: 'there are more errors than can be shown',
    advice: 'Correct the ones above first.',
    example: 'let = 1\n'.repeat(60),
  },
  FLOW_NUMBER: {
    message: '{found} is not a number: {reason}',
    advice: 'Write digits, with single _ between them if you like, after 0x, 0o or 0b where needed.',
    example: 'return 1__000',
    instead: 'return 1_000',
  },
  FLOW_OCTAL: {
    message: '{found} is an old octal form, which strict JavaScript does not have',
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
} satisfies Record<string, Refusal>;

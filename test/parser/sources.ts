// Generators of sources: programs that are valid by construction, and damaged ones.

import fc from 'fast-check';
import { ACCEPTED } from './accepted.js';

const name = fc.constantFrom('a', 'b', 'c', 'of', 'get', 'set', 'async', 'letter', 'ä', '$x');
const key = fc.constantFrom('a', 'if', 'class', 'get', 'async', '"s"', '1', '[k]', 'await');
const binary = fc
  .constantFrom(...'+ - * / % ** == != === !== < > <= >= << >> >>> & | ^ && || in instanceof ,'.split(' '))
  .map((sign) => ` ${sign} `);
const prefix = fc.constantFrom('-', '+', '!', '~', 'typeof ', 'void ');
const space = fc.constantFrom('', ' ', '\n', ' /* c */ ', '\t');

const spaced = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));
const text = fc.constant;

/** Expressions, statements and patterns; `@` stands for a new name, and values are in parentheses where precedence could forbid the mix. */
const grammatical = fc.letrec<{ expression: string; operand: string; pattern: string; statement: string; block: string }>((tie) => ({
  operand: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    name,
    fc.constantFrom('(1)', '.5', '0x1f', '1_000.', '"s"', "'\\n'", '`t`', 'true', 'null', '[]', '({})', '(() => 1)', '"\\u{1F600}"'),
    spaced(text('('), space, tie('expression'), space, text(')')),
    spaced(text('['), tie('expression'), text(', ...'), tie('operand'), text(', ,]')),
    spaced(
      text('({ '),
      key,
      text(': '),
      tie('operand'),
      text(', a, ...'),
      tie('operand'),
      text(', m(x = 1) { '),
      tie('statement'),
      text(' } })'),
    ),
    spaced(tie('operand'), fc.constantFrom('.', '?.'), fc.constantFrom('a', 'if', 'of', 'new')),
    spaced(tie('operand'), fc.constantFrom('[', '?.['), tie('expression'), text(']')),
    spaced(tie('operand'), fc.constantFrom('(', '?.('), tie('expression'), text(', ...a)')),
    spaced(text('`x${'), tie('expression'), text('}y${'), tie('operand'), text('}z`')),
    spaced(text('new Map('), tie('operand'), text(')')),
    spaced(text('(function f('), tie('pattern'), text(') '), tie('block'), text(')')),
    spaced(text('(async ('), tie('pattern'), text(', ...@) => '), tie('block'), text(')')),
    spaced(text('('), name, text(' => '), tie('operand'), text(')')),
  ),
  expression: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    tie('operand'),
    spaced(text('('), tie('operand'), text(')'), space, binary, space, tie('operand')),
    spaced(name, space, fc.constantFrom('=', '+=', '&&='), space, tie('operand')),
    spaced(prefix, tie('operand')),
    spaced(
      tie('operand'),
      text(' ? '),
      tie('expression').map((e) => `(${e})`),
      text(' : '),
      tie('operand'),
    ),
    spaced(tie('operand'), text(' ?? '), tie('operand'), text(' ?? '), tie('operand')),
    spaced(text('['), tie('pattern'), text('] = '), tie('operand')),
    spaced(text('(async () => await '), tie('operand'), text(')()')),
    spaced(name, fc.constantFrom('++', '--', ' += 1', ' ??= 2', ' **= 3')),
  ),
  pattern: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    text('@'),
    spaced(text('['), tie('pattern'), text(', , '), tie('pattern'), text(' = 1]')),
    spaced(text('{ '), key, text(': '), tie('pattern'), text(', @ = 2, ...@ }')),
  ),
  block: spaced(text('{ '), tie('statement'), space, text(';'), tie('statement'), text(' }')),
  statement: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    spaced(tie('operand'), text(';')).map((source) => `x = ${source}`),
    spaced(text('x = '), tie('expression'), fc.constantFrom(';', '\n;', '\nlet_ = 1;')),
    spaced(text('{ let '), tie('pattern'), text(' = '), tie('operand'), text(' }')),
    spaced(text('if ('), tie('expression'), text(') '), tie('block'), text(' else if (b) '), tie('block')),
    spaced(text('if (a) while ('), tie('expression'), text(') '), tie('block'), text('else { }')),
    spaced(text('@: for (const '), tie('pattern'), text(' of '), tie('operand'), text(') '), tie('block')),
    spaced(text('for (let i = 0; i < '), tie('operand'), text('; i++) { continue\n'), tie('statement'), text(' }')),
    spaced(text('do '), tie('block'), text(' while ('), tie('expression'), text(')')),
    spaced(text('try '), tie('block'), text(' catch ('), tie('pattern'), text(') { } finally '), tie('block')),
    spaced(
      text('switch ('),
      tie('expression'),
      text(') { case '),
      tie('operand'),
      text(': '),
      tie('statement'),
      text(' break; default: }'),
    ),
    spaced(text('{ async function g('), tie('pattern'), text(' = {}) { return\n'), tie('statement'), text(' } }')),
  ),
}));

const FRAGMENTS = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is source text.
  ...'async await of in let const => = ( ) [ ] { } , ; ... ?. ? : ?? || && ** - ++ -- / /= a b 1 "s" `t` `${ }` function if else for while do'.split(
    ' ',
  ),
  ...'return break continue throw try catch finally switch case default new typeof delete get set static yield class this super null eval'.split(
    ' ',
  ),
  ...'arguments var new.target import export workflow workflow(a){ += * \\u0061 0x 1_ 08 1n "\\8" # @ instanceof void debugger with enum'.split(
    ' ',
  ),
  ...[
    '\n',
    '\u2028',
    '//c\n',
    '/*c*/',
    '/*',
    '"',
    '`',
    '<!--',
    '-->',
    'async x=>',
    '{a=1}',
    '{b:c}',
    '"use strict"',
    'a:',
    'x.y',
    'for await (',
    '/re/g',
    '\\',
  ],
];

/** Several statements, each name declared once. */
export const program = fc.array(grammatical.statement, { minLength: 1, maxLength: 3 }).map((statements) => {
  let count = 0;
  return statements.join('\n').replaceAll('@', () => `v${count++}`);
});

/** Accepted programs with pieces removed, replaced or inserted. */
export const damaged = fc
  .tuple(
    fc.constantFrom(...ACCEPTED),
    fc.constantFrom('', ...ACCEPTED),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.constantFrom('', ...FRAGMENTS), fc.boolean()), { minLength: 1, maxLength: 4 }),
  )
  .map(([first, second, edits]) => {
    const pieces = `${first}\n${second}`.match(/\s+|[\p{ID_Continue}$.]+|[^\s\p{ID_Continue}]/gu) ?? [];
    for (const [at, remove, put, apart] of edits) pieces.splice(at % (pieces.length + 1), remove % 2, apart ? ` ${put} ` : put);
    return pieces.join('');
  });

// Checks docs/language.md: its examples run in Flow and in V8, its tables match the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { REFUSALS } from '../../libs/flow/diagnostics/codes.js';
import { type ErrorCode, RUN_ERRORS, THROWN_ERRORS } from '../../libs/flow/diagnostics/error-codes.js';
import type { Refusal } from '../../libs/flow/diagnostics/refusal.js';
import { WARNINGS } from '../../libs/flow/diagnostics/warnings.js';
import { DEFAULT_LIMITS } from '../../libs/flow/limits.js';
import { runGoldensInV8 } from './command.js';
import { judgeGolden } from './compare.js';
import { type Golden, parseGolden } from './golden.js';
import type { Outcome } from './outcome.js';

const FILE = join(import.meta.dirname, '../../docs/language.md');
const text = readFileSync(FILE, 'utf8');

const examples = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => {
  const line = text.slice(0, match.index).split('\n').length;
  return parseGolden(`docs/language.md:${line}`, FILE, match[1]);
});

describe('the examples of the language reference', () => {
  let outcomes: Map<Golden, Outcome>;
  beforeAll(async () => {
    outcomes = await runGoldensInV8(examples);
  }, 120_000);

  it('exist', () => expect(examples.length).toBeGreaterThan(10));

  it.each(examples.map((example) => [example.path, example] as const))('%s has the outcome that it states', (_path, example) => {
    expect(judgeGolden(example, outcomes.get(example))).toEqual([]);
  });
});

describe('the tables of the language reference', () => {
  it.each([
    ['refusals', sourceTable('refused', REFUSALS)],
    ['warnings', sourceTable('accepted with a warning', WARNINGS)],
    ['limits', limitTable()],
    ['errors', errorTable(RUN_ERRORS)],
    ['thrown', errorTable(THROWN_ERRORS)],
  ])('%s match the code (RHYTHM_UPDATE_DOCS=1 writes them)', (name, table) => {
    const section = new RegExp(`(<!-- ${name}: [^\\n]*\\n)(.*?)(<!-- /${name} -->)`, 's');
    const current = readFileSync(FILE, 'utf8');
    if (process.env.RHYTHM_UPDATE_DOCS)
      writeFileSync(
        FILE,
        current.replace(section, (_all, head, _old, end) => `${head}${table}${end}`),
      );
    expect(section.exec(readFileSync(FILE, 'utf8'))?.[2]).toBe(table);
  });
});

/** Programs that are too large for the table are left out of it; their codes are not. */
function sourceTable(head: string, table: Readonly<Record<string, Refusal>>): string {
  const rows = Object.entries(table).map(([refusal, { message, advice, example, instead }]) => [
    code(refusal),
    code(example.length < 100 ? example : ''),
    cell(`${message}. ${advice}`),
    code(instead ?? ''),
  ]);
  return markdown(['code', head, 'why, and what to do', 'instead'], rows);
}

function limitTable(): string {
  return markdown(
    ['limit', 'default'],
    Object.entries(DEFAULT_LIMITS).map(([name, value]) => [code(name), value.toLocaleString('en')]),
  );
}

function errorTable(table: Readonly<Record<string, ErrorCode>>): string {
  const rows = Object.entries(table).map(([name, { meaning, advice }]) => [code(name), cell(meaning), cell(advice)]);
  return markdown(['code', 'meaning', 'what to do'], rows);
}

function markdown(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}

function cell(words: string): string {
  return words
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replaceAll(' {hint}', '')
    .replace(/\{(\w+)\}/g, '*$1*');
}

// A backtick inside needs a longer fence; a line break or an unusual character is shown as its escape.
function code(source: string): string {
  if (source === '') return '';
  const line = source
    .replaceAll('\n', ' ⏎ ')
    .replaceAll('|', '\\|')
    .replace(/[\u2000-\u206f]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``;
}

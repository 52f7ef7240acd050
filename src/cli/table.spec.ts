// Tables fit the width of the terminal, count wide characters, and escape control characters.

import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { Painted } from './output.js';
import { type Column, cut, cutPainted, renderTable, textWidth } from './table.js';
import { terminalOf } from './terminal.js';

interface Row {
  id: string;
  name: string;
  note: string;
}

const COLUMNS: Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, min: 4 },
  { title: 'NOTE', value: ({ note }) => note, min: 6, drop: 1 },
];
const ROWS = [
  { id: 'a-1', name: 'order', note: 'waits for approval' },
  { id: 'b-22', name: '注文の確認', note: '' },
];

const at = (columns?: number) =>
  renderTable(
    ROWS,
    COLUMNS,
    terminalOf({ out: new PassThrough(), err: new PassThrough(), env: columns === undefined ? {} : { COLUMNS: String(columns) } }),
  ).ansi;

describe('a table', () => {
  it('is not cut in a pipe', () => {
    expect(at()).toBe(['ID    NAME        NOTE', 'a-1   order       waits for approval', 'b-22  注文の確認'].join('\n'));
  });

  it('cuts columns, then leaves columns out, then prints one value per line', () => {
    expect(at(26)).toBe(['ID    NAME      NOTE', 'a-1   order     waits for…', 'b-22  注文の…'].join('\n'));
    expect(at(14)).toBe(['ID    NAME', 'a-1   order', 'b-22  注文の…'].join('\n'));
    expect(at(9)).toBe(['ID   a-1', 'NAME ord…', 'NOTE waits…', '', 'ID   b-22', 'NAME 注…'].join('\n'));
  });

  it.each([120, 60, 40, 26, 20, 16, 14])('fits %i columns', (columns) => {
    for (const line of at(columns).split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  });

  it('counts terminal columns, not characters', () => {
    expect([textWidth('abc'), textWidth('注文'), textWidth('e\u0301'), textWidth('🚚')]).toEqual([3, 4, 1, 2]);
    expect(cut('注文の確認', 5)).toBe('注文…');
    const painted = Painted.trusted('\u001b[1mabc\u001b[22m def \u001b[31mghi\u001b[39m');
    expect(cutPainted(painted, 6).ansi).toBe('\u001b[1mabc\u001b[22m d…\u001b[31m\u001b[39m');
    expect(cutPainted(Painted.trusted('\u001b[1mabc\u001b[22m'), 3).ansi).toBe('\u001b[1mabc\u001b[22m');
  });
});

// Tables that fit the terminal: columns are cut, then left out in their order; if that is still too wide, one line per value.

import Table from 'cli-table3';
import { ansiOf, Painted, type Printable, visible } from './output.js';
import type { Terminal } from './terminal.js';

/** One column of a table. */
export interface Column<Row> {
  title: string;
  value(row: Row): string;
  /** Colours the value after it was cut to the width. */
  paint?(text: string, row: Row): Printable;
  /** The least width to which the column may be cut; without it, it is never cut. */
  min?: number;
  /** Columns with a number are left out in a narrow terminal, the highest first. */
  drop?: number;
}

const GAP = 2;

/** The table, without a line break at its end. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], terminal: Terminal): Painted {
  return Painted.trusted(tableText(rows, columns, terminal));
}

function tableText<Row>(rows: readonly Row[], columns: readonly Column<Row>[], terminal: Terminal): string {
  const texts = new Map(columns.map((column) => [column, rows.map((row) => visible(column.value(row)))]));
  const natural = (column: Column<Row>) => Math.max(textWidth(column.title), ...texts.get(column)!.map(textWidth));
  const kept = columnsThatFit(columns, natural, terminal.columns);
  if (!kept) return stacked(rows, columns, texts, terminal);
  const widths = shrink(kept, natural, terminal.columns);
  const table = new Table({
    head: kept.map(({ title }) => terminal.colours.bold(title).ansi),
    colWidths: widths.map((width) => width + GAP),
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
  });
  for (const [index, row] of rows.entries()) {
    table.push(
      kept.map((column, place) => {
        const text = cut(texts.get(column)![index]!, widths[place]!);
        return ansiOf(column.paint?.(text, row) ?? text);
      }),
    );
  }
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** How many columns a string takes in a terminal. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : ZERO.test(character) ? 0 : 1;
  return width;
}

/** A string cut to a width, with an ellipsis if something was left out. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (textWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Like `cut`, for a string with colours: all colour codes are kept, even those after the cut. */
export function cutPainted(painted: Painted, width: number | undefined): Painted {
  const parts = painted.ansi.split(COLOUR);
  if (width === undefined || textWidth(parts.filter((_, place) => place % 2 === 0).join('')) <= width) return painted;
  let room = width - 1;
  let full = false;
  const cutParts = parts.map((part, place) => {
    if (place % 2 === 1) return part;
    if (full) return '';
    if (textWidth(part) <= room) {
      room -= textWidth(part);
      return part;
    }
    full = true;
    return cut(part, room + 1).replace(/…?$/, '…');
  });
  return Painted.trusted(cutParts.join(''));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches colour codes
const COLOUR = /(\u001b\[[0-9;]*m)/;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const ZERO = /\p{Mn}|\p{Me}|\p{Cf}/u;
const NO_LINES = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right', 'left', 'left-mid', 'mid', 'mid-mid']
    .concat(['right', 'right-mid', 'middle'])
    .map((name) => [name, '']),
);

type Width<Row> = (column: Column<Row>) => number;

// Undefined when not even the columns that are never left out fit side by side.
function columnsThatFit<Row>(columns: readonly Column<Row>[], natural: Width<Row>, width: number | undefined): Column<Row>[] | undefined {
  const kept = [...columns];
  if (width === undefined) return kept;
  const least = () => kept.reduce((sum, column) => sum + Math.min(natural(column), column.min ?? Number.POSITIVE_INFINITY) + GAP, -GAP);
  while (least() > width) {
    const next = kept.filter(({ drop }) => drop !== undefined).sort((a, b) => b.drop! - a.drop!)[0];
    if (!next) return undefined;
    kept.splice(kept.indexOf(next), 1);
  }
  return kept;
}

function shrink<Row>(columns: readonly Column<Row>[], natural: Width<Row>, width: number | undefined): number[] {
  const widths = columns.map(natural);
  if (width === undefined) return widths;
  const total = () => widths.reduce((sum, each) => sum + each + GAP, -GAP);
  while (total() > width) {
    const room = widths.map((each, place) => each - (columns[place]!.min ?? each));
    const widest = room.indexOf(Math.max(...room));
    widths[widest]! -= 1;
  }
  return widths;
}

function stacked<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  texts: Map<Column<Row>, string[]>,
  terminal: Terminal,
): string {
  const label = Math.max(...columns.map(({ title }) => title.length));
  return rows
    .map((row, index) =>
      columns
        .filter((column) => texts.get(column)![index] !== '')
        .map((column) => {
          const text = texts.get(column)![index]!;
          const room = terminal.columns! - label - 1;
          // A value that must not be cut goes on its own line if it is too long for the rest of this one.
          const value = column.min === undefined ? text : cut(text, Math.max(room, column.min));
          const painted = ansiOf(column.paint?.(value, row) ?? value);
          return `${terminal.colours.bold(column.title.padEnd(label)).ansi}${column.min === undefined && textWidth(text) > room ? '\n' : ' '}${painted}`;
        })
        .join('\n'),
    )
    .join('\n\n');
}

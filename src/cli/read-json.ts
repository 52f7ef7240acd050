// Reads JSON from a flag or a file, and points at a syntax error with a caret.

import { existsSync, readFileSync } from 'node:fs';
import { UsageError } from './usage-error.js';

/** The value of a flag: JSON, or `@file` for the content of a file. */
export function readJsonFlag(value: string, flag: string): unknown {
  if (value.startsWith('@')) return readJsonFile(value.slice(1), flag);
  return parseJson(value, flag);
}

/** The value in a JSON file. */
export function readJsonFile(file: string, flag: string): unknown {
  if (!existsSync(file)) throw new UsageError(`${flag}: the file ${file} does not exist.`);
  return parseJson(readFileSync(file, 'utf8'), `${flag} (${file})`);
}

function parseJson(text: string, label: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`${label} is not valid JSON: ${message}`, ...pointAt(text, positionOf(message, text)));
  }
}

// Most of V8's messages have the position; otherwise the JSON ended too early or is wrong from its first character.
function positionOf(message: string, text: string): number {
  const position = /position (\d+)/.exec(message);
  if (position) return Number(position[1]);
  const token = /Unexpected token '(.)'/su.exec(message);
  return token ? Math.max(0, text.indexOf(token[1] as string)) : text.length;
}

function pointAt(text: string, position: number): string[] {
  const before = text.slice(0, position);
  const line = before.split('\n').length;
  const from = before.lastIndexOf('\n') + 1;
  const column = position - from;
  const shown = text.slice(from).split('\n')[0] ?? '';
  const start = Math.max(0, column - 60);
  // A character that is written as an escape would move the caret.
  const excerpt = shown.slice(start, start + 120).replace(/\p{Cc}/gu, ' ');
  return [`  ${line} | ${excerpt}`, `  ${' '.repeat(String(line).length)} | ${' '.repeat(column - start)}^`];
}

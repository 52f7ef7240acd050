// Text from outside is made visible before it is written, and only our own colours reach the terminal.

import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { ansiOf, jsonText, line, visible, visibleLines } from './output.js';
import { terminalOf } from './terminal.js';

describe('text from outside', () => {
  it('has its control characters written as escapes, of C0, C1 and of the direction of text', () => {
    expect(visible('a\u001b[2Jb\nc\td\u0000')).toBe('a\\x1b[2Jb\\nc\\td\\x00');
    expect(visible('\u009b31m\u007f\u2028\u202eevil\u2066')).toBe('\\x9b31m\\x7f\\u2028\\u202eevil\\u2066');
    expect(visible('注文 🚚 👩‍💻 é')).toBe('注文 🚚 👩‍💻 é');
  });

  it('keeps its lines only where they are asked for', () => {
    expect(visibleLines('a\r\n\tb\u001b')).toEqual(['a', '  b\\x1b']);
  });

  it('is the same value as JSON, without the control characters that JSON allows', () => {
    const value = { 'a\u009b': ['\u007f', '\u202e', '\u2028', 'ok'] };
    expect(jsonText(value)).toBe('{"a\\u009b":["\\u007f","\\u202e","\\u2028","ok"]}');
    expect(JSON.parse(jsonText(value, 2)!)).toEqual(value);
    expect(jsonText(undefined)).toBeUndefined();
  });

  it('gets no colours but ours', () => {
    const { colours } = terminalOf({ out: new PassThrough(), err: new PassThrough(), env: { FORCE_COLOR: '1' } });
    expect(ansiOf(line`${colours.red('a\u001b[31m')} ${'b\u001b[31m'} ${3}`)).toBe('\u001b[31ma\\x1b[31m\u001b[39m b\\x1b[31m 3');
  });
});

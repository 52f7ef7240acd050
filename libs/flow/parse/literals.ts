// The values of literals: numbers, strings and template parts, with every rule of strict mode.

import type { RefusalCode } from '../diagnostics/codes.js';

/** Receives what is wrong, with offsets inside the raw text. */
export type ReportLiteral = (code: RefusalCode, start: number, end: number, words: Record<string, string>) => void;

const DIGITS: Record<string, RegExp> = { x: /^[0-9a-f]+$/i, o: /^[0-7]+$/, b: /^[01]+$/ };
const DECIMAL = /^(?:0|[1-9][0-9]*|(?:0|[1-9][0-9]*)?\.[0-9]+|(?:0|[1-9][0-9]*)\.)(?:e[+-]?[0-9]+)?$/i;

/** The value of a number literal, or `null` for a BigInt. */
export function numberValue(raw: string, report: ReportLiteral): number | null {
  const bad = (reason: string): number => {
    report('FLOW_NUMBER', 0, raw.length, { found: raw, reason });
    return 0;
  };
  if (/^0[0-9_]/.test(raw)) {
    const digits = raw.replace(/^0+/, '') || '0';
    const instead = /^[0-7]+$/.test(raw) ? `0o${digits} (or ${digits})` : digits;
    report('FLOW_OCTAL', 0, raw.length, { found: raw, instead });
    return 0;
  }
  if (raw.includes('_') && !/^(?:[0-9a-z.+-]|(?<=[0-9a-f])_(?=[0-9a-f]))*$/i.test(raw)) return bad('_ must be between two digits');
  // The prefix of 0x_1 has no digit before its _, the exponent of 1_e5 none after.
  if (/^0[xob]_/i.test(raw) || (!/^0[xob]/i.test(raw) && /_e|e_/i.test(raw))) return bad('_ must be between two digits');
  const text = raw.replaceAll('_', '');
  const big = text.endsWith('n') && (/^(?:0|[1-9][0-9]*)n$/.test(text) || /^0[xob]/i.test(text));
  const body = big ? text.slice(0, -1) : text;
  const base = /^0([xob])/i.exec(body)?.[1].toLowerCase();
  if (base) {
    if (!DIGITS[base].test(body.slice(2)))
      return bad(body.length === 2 ? 'the digits are missing' : `it has characters that are not digits after 0${base}`);
  } else if (!DECIMAL.test(body)) {
    return bad(/e[+-]?$/i.test(body) ? 'the exponent has no digits' : 'a name cannot follow a number directly');
  }
  return big ? null : Number(body);
}

const SIMPLE: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v' };
const ESCAPE = /\\(?:u\{([^}]*)\}?|u([0-9a-fA-F]{0,4})|x([0-9a-fA-F]{0,2})|([0-9]+)|(\r\n|[\s\S]))/gu;

/** Resolves the escapes of a string or template part. */
export function cook(text: string, report: ReportLiteral): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (found, braced, four, two, digits, other, at: number) => {
    const bad = (reason: string): string => {
      report('FLOW_ESCAPE', at, at + found.length, { found, reason });
      return '';
    };
    if (braced !== undefined) {
      if (!/^[0-9a-fA-F]+$/.test(braced) || !found.endsWith('}')) return bad('the braces must contain hexadecimal digits');
      const code = Number.parseInt(braced, 16);
      return code > 0x10ffff ? bad('there is no character above 10FFFF') : String.fromCodePoint(code);
    }
    if (four !== undefined)
      return four.length === 4 ? String.fromCharCode(Number.parseInt(four, 16)) : bad('it needs four hexadecimal digits');
    if (two !== undefined) return two.length === 2 ? String.fromCharCode(Number.parseInt(two, 16)) : bad('it needs two hexadecimal digits');
    if (digits !== undefined) {
      if (digits === '0') return '\0';
      if (/^0[89]/.test(digits) || /^[89]/.test(digits)) return bad('strict JavaScript has no such escape');
      const octal = /^[0-3]?[0-7]{1,2}/.exec(digits)?.[0] ?? '';
      const instead = `\\x${Number.parseInt(octal, 8).toString(16).padStart(2, '0')}`;
      report('FLOW_OCTAL', at, at + 1 + octal.length, { found: `\\${octal}`, instead });
      return '';
    }
    if (/^[\r\n\u2028\u2029]/.test(other)) return '';
    return SIMPLE[other] ?? other;
  });
}

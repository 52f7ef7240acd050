// What may be written to a terminal: names, tags, logs, messages and file names come from outside, and must not move the cursor, colour
// the screen, reorder the text or look like another line.

/**
 * Text whose control characters are ours. Only this file makes it, and everything else that a command prints passes through
 * `visible` on its way out.
 */
export class Painted {
  private constructor(readonly ansi: string) {}

  /** Text that was made visible and then coloured or laid out. */
  static trusted(ansi: string): Painted {
    return new Painted(ansi);
  }
}

/** What a command prints: text from anywhere, or text with our own colours. */
export type Printable = string | Painted;

/** One line of parts: strings are made visible, painted parts keep their colours. */
export function line(texts: TemplateStringsArray, ...parts: readonly (Printable | number)[]): Painted {
  return Painted.trusted(
    texts.map((text, place) => text + (place < parts.length ? ansiOf(parts[place] as Printable | number) : '')).join(''),
  );
}

/** The characters that are written. */
export function ansiOf(text: Printable | number): string {
  return text instanceof Painted ? text.ansi : visible(String(text));
}

/** Control characters, line separators and those that change the direction of the text, as escapes. */
export function visible(text: string): string {
  return text.replace(UNSAFE, (character) => ESCAPES[character] ?? escaped(character));
}

/** The same for text of several lines. */
export function visibleLines(text: string): string[] {
  return text.split('\n').map((each) => visible(each.replace(/\r$/, '').replaceAll('\t', '  ')));
}

/** JSON that is safe in a terminal, and has the same value: JSON itself allows C1 control characters in strings. */
export function jsonText(value: unknown, indent?: number): string | undefined {
  return JSON.stringify(value, null, indent)?.replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// C0, DEL, C1; U+2028 and U+2029; marks, embeddings, overrides and isolates of the direction.
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
// JSON.stringify escapes C0, and with an indent writes newlines of its own.
const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const ESCAPES: Record<string, string> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' };

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
}

// Turns offsets of a source text into lines and columns, both counted from 1.

/** A place for people: line and column count from 1, columns in UTF-16 units. */
export interface Place {
  line: number;
  column: number;
}

/** The line starts of one source text; look-ups are a binary search. */
export class LineMap {
  private readonly starts: number[] = [0];

  constructor(readonly source: string) {
    // The line terminators of ECMAScript; CR LF is one of them.
    for (const match of source.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) this.starts.push(match.index + match[0].length);
  }

  /** How many lines the text has. */
  get lineCount(): number {
    return this.starts.length;
  }

  /** Line and column of an offset; offsets outside the text are moved to its nearest end. */
  placeOf(offset: number): Place {
    const inside = Math.min(Math.max(offset, 0), this.source.length);
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= inside) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: inside - this.starts[low] + 1 };
  }

  /** The text of a line (from 1), without its terminator. */
  textOf(line: number): string {
    const start = this.starts[line - 1];
    if (start === undefined) return '';
    return this.source.slice(start, this.starts[line] ?? this.source.length).replace(/[\n\r\u2028\u2029]+$/, '');
  }
}

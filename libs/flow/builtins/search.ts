// Finds a string in another in linear time: V8's search compares n × m characters at worst, with which a hostile flow could block a worker.
import type { Machine } from '../vm/native.js';

// Up to here the host's search is fast enough even at its worst.
const SHORT = 32;

/** The places of `wanted` in `text`, from left to right. Charges for the whole walk at once. */
export class Finder {
  private readonly borders: Int32Array | null;
  constructor(
    vm: Machine,
    private readonly text: string,
    private readonly wanted: string,
  ) {
    vm.charge((text.length + wanted.length) >> 4);
    this.borders = wanted.length > SHORT && wanted.length <= text.length ? bordersOf(vm, text, wanted, (at) => at) : null;
  }

  /** The first place at or after `from`, or -1. */
  next(from: number): number {
    const { text, wanted, borders } = this;
    if (borders === null) return text.indexOf(wanted, from);
    for (let at = from, matched = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1];
      if (wanted.charCodeAt(matched) === unit) matched++;
      if (matched === wanted.length) return at - matched + 1;
    }
    return -1;
  }
}

/** The first place of `wanted` at or after `from`, or -1. */
export function findFirst(vm: Machine, text: string, wanted: string, from: number): number {
  const start = Math.min(Math.max(from, 0), text.length);
  return new Finder(vm, text, wanted).next(start);
}

/** The last place of `wanted` at or before `from`, or -1: the same walk from right to left. */
export function findLast(vm: Machine, text: string, wanted: string, from: number): number {
  const { length } = wanted;
  vm.charge((text.length + length) >> 4);
  if (length <= SHORT || length > text.length) return text.lastIndexOf(wanted, from);
  const borders = bordersOf(vm, text, wanted, (at) => length - 1 - at);
  for (let at = Math.min(text.length, Math.max(from, 0) + length) - 1, matched = 0; at >= 0; at--) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(length - 1 - matched) !== unit) matched = borders[matched - 1];
    if (wanted.charCodeAt(length - 1 - matched) === unit) matched++;
    if (matched === length) return at;
  }
  return -1;
}

/** For each prefix (as `place` reads the text) the length of its longest border: the table of Knuth, Morris and Pratt. */
function bordersOf(vm: Machine, text: string, wanted: string, place: (at: number) => number): Int32Array {
  const { length } = wanted;
  vm.charge((text.length + length) >> 2);
  vm.chargeBytes(length * 4);
  const borders = new Int32Array(length);
  for (let at = 1, border = 0; at < length; at++) {
    const unit = wanted.charCodeAt(place(at));
    while (border > 0 && wanted.charCodeAt(place(border)) !== unit) border = borders[border - 1];
    if (wanted.charCodeAt(place(border)) === unit) border++;
    borders[at] = border;
  }
  return borders;
}

// `normalize`: piece by piece, because V8 sorts combining characters in a time that grows with the square of their number.
import { type Machine, native, PAUSE, type Steps } from '../vm/native.js';
import type { Value } from '../vm/values.js';
import { byReceiver } from './cost.js';
import { Pieces } from './pieces.js';
import { wrongReceiver } from './receiver.js';

const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'];
/** Real text has a handful; Unicode's own "stream-safe" format allows thirty. Sorting this many takes about a millisecond. */
const MOST_COMBINING = 2_000;
/** The longest decomposition of Unicode is eighteen units (U+FDFA). */
const GROWTH = 18;
const PIECE = 4_096;
/** No character below is changed by what stands before it, in any of the forms. */
const FIRST_COMBINING = 0x300;
const COMBINING = /\p{M}+/gu;

export const NORMALIZE = native({
  name: 'String.prototype.normalize',
  length: 0,
  cost: (receiver) => 4 * byReceiver(receiver),
  *steps(vm, receiver, args) {
    if (receiver === undefined || receiver === null) throw wrongReceiver(vm, 'String.prototype.normalize', 'a string');
    const text = yield* vm.toStringSteps(receiver);
    const form = args[0] === undefined ? 'NFC' : yield* vm.toStringSteps(args[0]);
    if (!FORMS.includes(form)) throw vm.error('RangeError', `normalize() accepts ${FORMS.join(', ')}, not "${form}"`);
    return yield* normalize(vm, text, form);
  },
});

function* normalize(vm: Machine, text: string, form: string): Steps<Value> {
  const pieces = new Pieces(vm);
  for (let from = 0; from < text.length; ) {
    if (vm.isDue) yield PAUSE;
    const end = pieceEnd(text, from);
    vm.charge(end - from);
    const piece = text.slice(from, end);
    chargeSorting(vm, piece);
    vm.chargeString(Math.min(piece.length, PIECE) * GROWTH);
    const normalized = piece.normalize(form);
    vm.chargeString(normalized.length);
    pieces.add(normalized);
    from = end;
  }
  return pieces.text();
}

/** The first place after a piece where the string can be cut. */
function pieceEnd(text: string, from: number): number {
  let end = from + PIECE;
  while (end < text.length && text.charCodeAt(end) >= FIRST_COMBINING) end++;
  return Math.min(end, text.length);
}

function chargeSorting(vm: Machine, piece: string): void {
  for (const [run] of piece.matchAll(COMBINING)) {
    if (run.length > MOST_COMBINING)
      throw vm.error(
        'RangeError',
        `normalize() was given ${run.length} combining characters in a row; at most ${MOST_COMBINING} are supported`,
      );
    vm.charge((run.length * run.length) >> 4);
  }
}

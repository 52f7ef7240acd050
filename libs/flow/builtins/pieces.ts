// Builds a long string from many pieces, joined in groups: the last step then only copies, however many pieces there were.
import type { Machine } from '../vm/native.js';

const GROUP = 4_096;

export class Pieces {
  private readonly groups: string[] = [];
  private readonly pieces: string[] = [];
  private length = 0;
  constructor(
    private readonly vm: Machine,
    private readonly between = '',
  ) {
    vm.hold(this.groups);
    vm.hold(this.pieces);
  }

  /** The caller has charged the piece. */
  add(piece: string): void {
    this.length += piece.length;
    if (this.pieces.push(piece) < GROUP) return;
    this.groups.push(this.pieces.join(this.between));
    this.pieces.length = 0;
  }

  text(): string {
    if (this.groups.length === 0) return this.pieces.join(this.between);
    this.vm.chargeString(this.length);
    if (this.pieces.length > 0) this.groups.push(this.pieces.join(this.between));
    return this.groups.join(this.between);
  }
}

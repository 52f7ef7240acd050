// Emits the instructions of one function: labels, stack depth, source positions and protected regions.

import type { LineMap } from '../diagnostics/line-map.js';
import { type JumpName, type JumpOperands, OP, OPCODES, type Operands, type OpName } from './opcodes.js';
import type { LocalName } from './program.js';

/** A place in the code that jumps refer to before it is known. */
export class Label {
  at = -1;
  readonly uses: number[] = [];
}

/** Constants of the whole program, each stored once. */
export class ConstantPool {
  readonly values: (string | number)[] = [];
  private readonly strings = new Map<string, number>();
  private readonly numbers = new Map<number, number>();

  indexOf(value: string | number): number {
    // A Map finds NaN but treats -0 as 0: -0 is never pooled (it is compiled as a negation).
    const known = typeof value === 'string' ? this.strings.get(value) : this.numbers.get(value);
    if (known !== undefined) return known;
    const index = this.values.push(value) - 1;
    if (typeof value === 'string') this.strings.set(value, index);
    else this.numbers.set(value, index);
    return index;
  }
}

export class Assembler {
  readonly code: number[] = [];
  readonly handlers: number[] = [];
  readonly positions: number[] = [];
  readonly locals: LocalName[] = [];
  /** Values on the operand stack at this point, according to the structure of the source. */
  depth = 0;
  private offset = -1;
  private lastOffset = -1;
  /** Start of the latest instruction, if no label follows it: only then may it be fused with the next. */
  private fusible = -1;

  constructor(
    readonly pool: ConstantPool,
    private readonly lines: LineMap,
  ) {}

  /** Source offset of what is emitted next. */
  at(offset: number): void {
    this.offset = offset;
  }

  get here(): number {
    return this.code.length;
  }

  emit<Name extends OpName>(name: Name, ...operands: Operands<Name>): void {
    if (!this.fuse(name, operands)) this.append(name, operands);
  }

  private append(name: OpName, operands: readonly number[]): void {
    const opcode = OPCODES[OP[name]];
    if (opcode.throws && this.offset !== this.lastOffset && this.offset >= 0) {
      const { line, column } = this.lines.placeOf(this.offset);
      this.positions.push(this.here, line, column);
      this.lastOffset = this.offset;
    }
    this.fusible = this.here;
    this.code.push(OP[name], ...operands);
    const count = opcode.perCount === 0 ? 0 : operands[opcode.operands.indexOf('count')] * opcode.perCount;
    this.depth += opcode.pushes - opcode.pops - count;
  }

  /** The operand that refers to a name. */
  name(name: string): number {
    return this.pool.indexOf(name);
  }

  constant(value: string | number): void {
    if (typeof value === 'number' && Object.is(value, -0)) {
      this.emit('INT', 0);
      this.emit('NEG');
    } else if (typeof value === 'number' && (value | 0) === value) this.emit('INT', value);
    else this.emit('CONST', this.pool.indexOf(value));
  }

  jump<Name extends JumpName>(name: Name, label: Label, ...before: JumpOperands<Name>): void {
    const opcode = OPCODES[OP[name]];
    // A backward jump always costs fuel.
    if (label.at >= 0) return this.loop(label);
    // The target is the last operand.
    const operands = [...before, 0];
    if (!this.fuse(name, operands)) this.append(name, operands);
    label.uses.push(this.code.length - 1);
    if (opcode.ends) this.fusible = -1;
  }

  loop(label: Label): void {
    const target = label.at;
    this.emit('LOOP', target, Math.max(1, (this.here - target) >> 1));
    this.fusible = -1;
  }

  mark(label: Label): void {
    label.at = this.here;
    this.fusible = -1;
    for (const use of label.uses) this.code[use] = label.at;
  }

  /** Prevents fusing across this point, where a protected region begins or ends. */
  barrier(): number {
    this.fusible = -1;
    return this.here;
  }

  protect(start: number, end: number, handler: number, depth: number): void {
    if (start < end) this.handlers.push(start, end, handler, depth);
  }

  // Fewer, larger instructions: dispatch is the main cost of an interpreter in JavaScript.
  private fuse(name: OpName, operands: readonly number[]): boolean {
    const last = this.fusible;
    if (last < 0) return false;
    const { code } = this;
    if (code[last] === OP.GET) {
      if (name === 'GET') {
        code[last] = OP.GET2;
        code.push(operands[0]);
        this.depth += 1;
        return true;
      }
      if (name === 'GET_PROP') {
        this.replace(last, 'GET_PROP_OF', [code[last + 1], operands[0]]);
        return true;
      }
    } else if (name === 'JUMP_IF_FALSE') {
      const fused = COMPARE_AND_JUMP[code[last]];
      if (fused) {
        this.replace(last, fused, operands);
        return true;
      }
    }
    return false;
  }

  private replace(last: number, name: OpName, operands: readonly number[]): void {
    this.depth -= OPCODES[this.code[last]].pushes - OPCODES[this.code[last]].pops;
    this.code.length = last;
    this.fusible = -1;
    // A comparison has recorded its position already; a variable has not.
    if (this.positions[this.positions.length - 3] === last) this.positions.length -= 3;
    this.lastOffset = -1;
    this.append(name, operands);
  }
}

const COMPARE_AND_JUMP: Partial<Record<number, JumpName>> = {
  [OP.LT]: 'JUMP_UNLESS_LT',
  [OP.LE]: 'JUMP_UNLESS_LE',
  [OP.GT]: 'JUMP_UNLESS_GT',
  [OP.GE]: 'JUMP_UNLESS_GE',
  [OP.SEQ]: 'JUMP_UNLESS_SEQ',
  [OP.SNE]: 'JUMP_UNLESS_SNE',
};

// The dispatch loop: one switch over the instructions of compile/opcodes.ts, with its hot state in local variables.
// It is one function because V8 keeps locals in registers only within one; slow cases leave it for the natives in operators.ts.
// The cases are literal numbers because V8 builds a jump table only from those; a spec compares them with the table.

import { ContinueFrame, Frame, NativeFrame, newRegisters, type Register } from './frame.js';
import { iteratorOf, keysOf, nextOf } from './iterate.js';
import { LONG_JOINED } from './machine.js';
import {
  CAPTURES_BYTES,
  CELL_BYTES,
  ELEMENT_BYTES,
  FIRST_ELEMENT_BYTES,
  FUNCTION_BYTES,
  ITERATOR_BYTES,
  PLAIN_BYTES,
  PROPERTY_BYTES,
} from './memory.js';
import { DONE, type NativeDefinition } from './native.js';
import * as slow from './operators.js';
import {
  chargeKeyBytes,
  DIGIT_NINE,
  defineOwn,
  deleteProperty,
  getProperty,
  isLong,
  isLongWalk,
  LONG_LIST,
  LONGEST_HASHED,
  NEW_KEY,
  setElement,
  setProperty,
} from './properties.js';
import {
  ArrayObject,
  Cell,
  FunctionObject,
  HeapObject,
  type IteratorObject,
  newProperties,
  PlainObject,
  type Properties,
  typeOf,
  UNINITIALIZED,
  type Value,
} from './values.js';
import { PUSHED, type Vm } from './vm.js';

/** Comparing strings up to this length costs no more than any other instruction. */
const LONG_STRING = 256;
const NO_CELLS: readonly Cell[] = [];

/** Runs the frame on top, and those it calls, until no frame is left or the slice is used up (frames are left then). */
export function interpret(vm: Vm): void {
  const { constants } = vm.program;
  const { functions } = vm.program;
  reload: for (;;) {
    if (vm.frames.length === 0) return;
    const top = vm.frames[vm.frames.length - 1];
    // Every frame has saved its state here, so that even a native which calls back a million times can be interrupted in between.
    if (vm.fuel < vm.fuelFloor) {
      if (vm.checkpoint(0)) return;
      // A native that paused, where a measurement of the heap gave the slice back.
      if (top instanceof NativeFrame) {
        vm.resumeNative();
        continue;
      }
    }
    const frame = top as Frame;
    const code = frame.code.code;
    const { registers } = frame;
    let { ip, sp } = frame;
    try {
      for (;;) {
        switch (code[ip++]) {
          case 0 /* CONST */:
            registers[sp++] = constants[code[ip++]];
            break;
          case 1 /* INT */:
            registers[sp++] = code[ip++];
            break;
          case 2 /* UNDEFINED */:
            registers[sp++] = undefined;
            break;
          case 3 /* NULL */:
            registers[sp++] = null;
            break;
          case 4 /* TRUE */:
            registers[sp++] = true;
            break;
          case 5 /* FALSE */:
            registers[sp++] = false;
            break;
          case 6 /* POP */:
            sp--;
            break;
          case 7 /* DUP */:
            registers[sp] = registers[sp - 1];
            sp++;
            break;
          case 8 /* DUP2 */:
            registers[sp] = registers[sp - 2];
            registers[sp + 1] = registers[sp - 1];
            sp += 2;
            break;
          case 9 /* SWAP */:
            {
              const a = registers[sp - 1];
              registers[sp - 1] = registers[sp - 2];
              registers[sp - 2] = a;
              break;
            }
          case 10 /* PICK */:
            registers[sp] = registers[sp - 1 - code[ip++]];
            sp++;
            break;
          case 11 /* NIP */:
            {
              const count = code[ip++];
              registers[sp - 1 - count] = registers[sp - 1];
              sp -= count;
              break;
            }
          case 12 /* GET */:
            registers[sp++] = registers[code[ip++]];
            break;
          case 107 /* GET2 */:
            registers[sp] = registers[code[ip]];
            registers[sp + 1] = registers[code[ip + 1]];
            ip += 2;
            sp += 2;
            break;
          case 13 /* SET */:
            registers[code[ip++]] = registers[--sp];
            break;
          case 14 /* GET_CHECKED */:
            {
              const value = registers[code[ip]];
              if (value === UNINITIALIZED) throw deadZoneError(vm, frame, ip, constants[code[ip + 1]]);
              ip += 2;
              registers[sp++] = value;
              break;
            }
          case 15 /* SET_CHECKED */:
            if (registers[code[ip]] === UNINITIALIZED) throw deadZoneError(vm, frame, ip, constants[code[ip + 1]]);
            registers[code[ip]] = registers[--sp];
            ip += 2;
            break;
          case 16 /* UNSET */:
            registers[code[ip++]] = UNINITIALIZED;
            break;
          case 17 /* NEW_CELL */:
            vm.chargeBytes(CELL_BYTES);
            registers[code[ip++]] = new Cell(UNINITIALIZED);
            break;
          case 18 /* BOX */:
            {
              const slot = code[ip++];
              vm.chargeBytes(CELL_BYTES);
              registers[slot] = new Cell(registers[slot] as Value);
              break;
            }
          case 19 /* COPY_CELL */:
            {
              const slot = code[ip++];
              vm.chargeBytes(CELL_BYTES);
              registers[slot] = new Cell((registers[slot] as Cell).value);
              break;
            }
          case 20 /* GET_CELL */:
            {
              const { value } = registers[code[ip]] as Cell;
              if (value === UNINITIALIZED) throw deadZoneError(vm, frame, ip, constants[code[ip + 1]]);
              ip += 2;
              registers[sp++] = value;
              break;
            }
          case 21 /* SET_CELL */:
            {
              const cell = registers[code[ip]] as Cell;
              if (cell.value === UNINITIALIZED) throw deadZoneError(vm, frame, ip, constants[code[ip + 1]]);
              ip += 2;
              cell.value = registers[--sp] as Value;
              break;
            }
          case 22 /* INIT_CELL */:
            (registers[code[ip++]] as Cell).value = registers[--sp] as Value;
            break;
          case 23 /* GET_CAPTURED */:
            {
              const { value } = frame.cells[code[ip]];
              if (value === UNINITIALIZED) throw deadZoneError(vm, frame, ip, constants[code[ip + 1]]);
              ip += 2;
              registers[sp++] = value;
              break;
            }
          case 24 /* SET_CAPTURED */:
            {
              const cell = frame.cells[code[ip]];
              if (cell.value === UNINITIALIZED) throw deadZoneError(vm, frame, ip, constants[code[ip + 1]]);
              ip += 2;
              cell.value = registers[--sp] as Value;
              break;
            }
          case 25 /* GLOBAL */:
            registers[sp++] = vm.global(constants[code[ip++]] as string);
            break;
          case 26 /* CLOSURE */:
            frame.ip = ip;
            registers[sp++] = closure(vm, frame, functions[code[ip++]], null);
            break;
          case 27 /* CLOSURE_KEYED */:
            frame.ip = ip;
            registers[sp] = closure(vm, frame, functions[code[ip++]], registers[sp - 1] as string);
            sp++;
            break;
          case 115 /* SELF */:
            registers[sp++] = frame.fn;
            break;
          case 28 /* ADD */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a + b;
              else if (typeof a === 'string' && typeof b === 'string') {
                vm.chargeJoined(a.length, b.length);
                registers[sp - 1] = a + b;
              } else if (typeof a === 'string' && typeof b === 'number') {
                const text = String(b);
                vm.fuel -= 4;
                vm.chargeJoined(a.length, text.length);
                registers[sp - 1] = a + text;
              } else if (operate(vm, frame, ip, sp - 1, slow.ADD, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 29 /* SUB */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a - b;
              else if (operate(vm, frame, ip, sp - 1, slow.SUB, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 30 /* MUL */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a * b;
              else if (operate(vm, frame, ip, sp - 1, slow.MUL, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 31 /* DIV */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a / b;
              else if (operate(vm, frame, ip, sp - 1, slow.DIV, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 32 /* MOD */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a % b;
              else if (operate(vm, frame, ip, sp - 1, slow.MOD, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 33 /* POW */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a ** b;
              else if (operate(vm, frame, ip, sp - 1, slow.POW, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 34 /* BIT_AND */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a & b;
              else if (operate(vm, frame, ip, sp - 1, slow.BIT_AND, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 35 /* BIT_OR */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a | b;
              else if (operate(vm, frame, ip, sp - 1, slow.BIT_OR, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 36 /* BIT_XOR */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a ^ b;
              else if (operate(vm, frame, ip, sp - 1, slow.BIT_XOR, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 37 /* SHL */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a << b;
              else if (operate(vm, frame, ip, sp - 1, slow.SHL, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 38 /* SHR */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a >> b;
              else if (operate(vm, frame, ip, sp - 1, slow.SHR, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 39 /* USHR */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a >>> b;
              else if (operate(vm, frame, ip, sp - 1, slow.USHR, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 44 /* LT */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a < b;
              else if (operate(vm, frame, ip, sp - 1, slow.LT, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 108 /* JUMP_UNLESS_LT */:
            {
              const b = registers[--sp];
              const a = registers[--sp];
              const target = code[ip++];
              if (typeof a === 'number' && typeof b === 'number') {
                if (!(a < b)) ip = target;
              } else if (branch(vm, frame, ip, sp, slow.LT, a as Value, b as Value, target)) continue reload;
              else if (vm.result !== true) ip = target;
              break;
            }
          case 45 /* LE */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a <= b;
              else if (operate(vm, frame, ip, sp - 1, slow.LE, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 109 /* JUMP_UNLESS_LE */:
            {
              const b = registers[--sp];
              const a = registers[--sp];
              const target = code[ip++];
              if (typeof a === 'number' && typeof b === 'number') {
                if (!(a <= b)) ip = target;
              } else if (branch(vm, frame, ip, sp, slow.LE, a as Value, b as Value, target)) continue reload;
              else if (vm.result !== true) ip = target;
              break;
            }
          case 46 /* GT */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a > b;
              else if (operate(vm, frame, ip, sp - 1, slow.GT, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 110 /* JUMP_UNLESS_GT */:
            {
              const b = registers[--sp];
              const a = registers[--sp];
              const target = code[ip++];
              if (typeof a === 'number' && typeof b === 'number') {
                if (!(a > b)) ip = target;
              } else if (branch(vm, frame, ip, sp, slow.GT, a as Value, b as Value, target)) continue reload;
              else if (vm.result !== true) ip = target;
              break;
            }
          case 47 /* GE */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'number' && typeof b === 'number') registers[sp - 1] = a >= b;
              else if (operate(vm, frame, ip, sp - 1, slow.GE, a as Value, b as Value)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 111 /* JUMP_UNLESS_GE */:
            {
              const b = registers[--sp];
              const a = registers[--sp];
              const target = code[ip++];
              if (typeof a === 'number' && typeof b === 'number') {
                if (!(a >= b)) ip = target;
              } else if (branch(vm, frame, ip, sp, slow.GE, a as Value, b as Value, target)) continue reload;
              else if (vm.result !== true) ip = target;
              break;
            }
          case 40 /* EQ */:
            {
              const b = registers[--sp] as Value;
              const a = registers[sp - 1] as Value;
              if (operate(vm, frame, ip, sp - 1, slow.EQ, a, b)) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 41 /* NE */:
            {
              const b = registers[--sp] as Value;
              const a = registers[sp - 1] as Value;
              if (operate(vm, frame, ip, sp - 1, slow.NE, a, b)) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 48 /* IN */:
            {
              const b = registers[--sp] as Value;
              const a = registers[sp - 1] as Value;
              if (operate(vm, frame, ip, sp - 1, slow.IN, a, b)) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 49 /* INSTANCEOF */:
            {
              const b = registers[--sp] as Value;
              const a = registers[sp - 1] as Value;
              if (operate(vm, frame, ip, sp - 1, slow.INSTANCEOF, a, b)) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 50 /* NEG */:
            {
              const a = registers[sp - 1];
              if (typeof a === 'number') registers[sp - 1] = -a;
              else if (operate(vm, frame, ip, sp - 1, slow.NEG, a as Value, undefined)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 51 /* PLUS */:
            {
              const a = registers[sp - 1];
              if (typeof a === 'number') registers[sp - 1] = +a;
              else if (operate(vm, frame, ip, sp - 1, slow.PLUS, a as Value, undefined)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 53 /* BIT_NOT */:
            {
              const a = registers[sp - 1];
              if (typeof a === 'number') registers[sp - 1] = ~a;
              else if (operate(vm, frame, ip, sp - 1, slow.BIT_NOT, a as Value, undefined)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 105 /* INC_LOCAL */:
            {
              const slot = code[ip++];
              const a = registers[slot];
              if (typeof a === 'number') registers[slot] = a + 1;
              else if (
                store(vm, frame, ip, sp, a as Value, (number) => {
                  registers[slot] = number + 1;
                })
              )
                continue reload;
              break;
            }
          case 106 /* DEC_LOCAL */:
            {
              const slot = code[ip++];
              const a = registers[slot];
              if (typeof a === 'number') registers[slot] = a - 1;
              else if (
                store(vm, frame, ip, sp, a as Value, (number) => {
                  registers[slot] = number - 1;
                })
              )
                continue reload;
              break;
            }
          case 42 /* SEQ */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'string' && a.length > LONG_STRING) slow.chargeSame(vm, a, b);
              registers[sp - 1] = a === b;
              break;
            }
          case 43 /* SNE */:
            {
              const b = registers[--sp];
              const a = registers[sp - 1];
              if (typeof a === 'string' && a.length > LONG_STRING) slow.chargeSame(vm, a, b);
              registers[sp - 1] = a !== b;
              break;
            }
          case 112 /* JUMP_UNLESS_SEQ */:
            {
              sp -= 2;
              const target = code[ip++];
              const a = registers[sp];
              if (typeof a === 'string' && a.length > LONG_STRING) slow.chargeSame(vm, a, registers[sp + 1]);
              if (a !== registers[sp + 1]) ip = target;
              break;
            }
          case 113 /* JUMP_UNLESS_SNE */:
            {
              sp -= 2;
              const target = code[ip++];
              const a = registers[sp];
              if (typeof a === 'string' && a.length > LONG_STRING) slow.chargeSame(vm, a, registers[sp + 1]);
              if (a === registers[sp + 1]) ip = target;
              break;
            }
          case 52 /* NOT */:
            registers[sp - 1] = !registers[sp - 1];
            break;
          case 54 /* TYPEOF */:
            registers[sp - 1] = typeOf(registers[sp - 1] as Value);
            break;
          case 55 /* INC */:
            registers[sp - 1] = (registers[sp - 1] as number) + 1;
            break;
          case 56 /* DEC */:
            registers[sp - 1] = (registers[sp - 1] as number) - 1;
            break;
          case 57 /* TO_STRING */:
            {
              const a = registers[sp - 1] as Value;
              if (typeof a === 'string') break;
              if (!(a instanceof HeapObject)) registers[sp - 1] = String(a);
              else if (operate(vm, frame, ip, sp - 1, slow.TO_STRING, a, undefined)) continue reload;
              else registers[sp - 1] = vm.result;
              break;
            }
          case 58 /* TO_KEY */:
            {
              const a = registers[sp - 1] as Value;
              if (typeof a === 'string' && a.length <= LONGEST_HASHED) break;
              if (operate(vm, frame, ip, sp - 1, slow.TO_KEY, a, undefined)) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 59 /* CONCAT */:
            {
              const count = code[ip++];
              sp -= count;
              let text = registers[sp] as string;
              for (let at = 1; at < count; at++) text += registers[sp + at] as string;
              // `${all}${row}` grows a string as `all += row` does.
              const left = text.length < LONG_JOINED ? 0 : longestPart(registers, sp, count);
              vm.chargeJoined(left, text.length - left);
              registers[sp++] = text;
              break;
            }
          case 60 /* JUMP */:
            ip = code[ip];
            break;
          case 61 /* LOOP */:
            vm.fuel -= code[ip + 1];
            ip = code[ip];
            if (vm.fuel < vm.fuelFloor) {
              frame.ip = ip;
              frame.sp = sp;
              if (vm.checkpoint(0)) return;
            }
            break;
          case 62 /* JUMP_IF_FALSE */:
            {
              const target = code[ip++];
              if (!registers[--sp]) ip = target;
              break;
            }
          case 63 /* JUMP_IF_TRUE */:
            {
              const target = code[ip++];
              if (registers[--sp]) ip = target;
              break;
            }
          case 64 /* AND */:
            {
              const target = code[ip++];
              if (!registers[sp - 1]) ip = target;
              else sp--;
              break;
            }
          case 65 /* OR */:
            {
              const target = code[ip++];
              if (registers[sp - 1]) ip = target;
              else sp--;
              break;
            }
          case 66 /* COALESCE */:
            {
              const target = code[ip++];
              const a = registers[sp - 1];
              if (a !== undefined && a !== null) ip = target;
              else sp--;
              break;
            }
          case 67 /* DEFAULT */:
            {
              const target = code[ip++];
              if (registers[sp - 1] !== undefined) ip = target;
              else sp--;
              break;
            }
          case 68 /* NULLISH */:
            {
              const target = code[ip++];
              const a = registers[sp - 1];
              if (a === undefined || a === null) {
                registers[sp - 1] = undefined;
                ip = target;
              }
              break;
            }
          case 69 /* NULLISH_METHOD */:
            {
              const target = code[ip++];
              const a = registers[sp - 1];
              if (a === undefined || a === null) {
                sp--;
                registers[sp - 1] = undefined;
                ip = target;
              }
              break;
            }
          case 70 /* CASE */:
            {
              const target = code[ip++];
              const a = registers[--sp];
              if (typeof a === 'string' && a.length > LONG_STRING) slow.chargeSame(vm, a, registers[sp - 1]);
              if (a === registers[sp - 1]) {
                sp--;
                ip = target;
              }
              break;
            }
          case 71 /* NEW_OBJECT */:
            vm.chargeBytes(PLAIN_BYTES);
            registers[sp++] = new PlainObject(newProperties());
            break;
          case 72 /* NEW_ARRAY */:
            {
              const count = code[ip++];
              sp -= count;
              registers[sp] = vm.newArray(registers.slice(sp, sp + count) as Value[]);
              sp++;
              break;
            }
          case 73 /* APPEND */:
            {
              const value = registers[--sp] as Value;
              const { elements } = registers[sp - 1] as ArrayObject;
              vm.chargeBytes(elements.length === 0 ? ELEMENT_BYTES + FIRST_ELEMENT_BYTES : ELEMENT_BYTES);
              elements.push(value);
              break;
            }
          case 74 /* APPEND_HOLE */:
            vm.chargeBytes(8);
            (registers[sp - 1] as ArrayObject).elements.length++;
            break;
          case 75 /* APPEND_ALL */:
            {
              sp--;
              frame.ip = ip;
              const iterator = iteratorOf(vm, registers[sp] as Value);
              if (!isLongWalk(iterator)) appendAll(vm, registers[sp - 1] as ArrayObject, iterator);
              else if (operate(vm, frame, ip, sp - 1, slow.APPEND_ALL, registers[sp - 1] as Value, iterator)) continue reload;
              break;
            }
          case 76 /* DEFINE */:
            {
              const value = registers[--sp] as Value;
              const key = constants[code[ip++]] as string;
              const { props } = registers[sp - 1] as PlainObject;
              if (key.charCodeAt(0) > DIGIT_NINE) vm.chargeBytes(PROPERTY_BYTES);
              else chargeKeyBytes(vm, props, key);
              props[key] = value;
              break;
            }
          case 77 /* DEFINE_KEYED */:
            {
              sp -= 2;
              defineOwn(vm, registers[sp - 1] as PlainObject, registers[sp] as string, registers[sp + 1] as Value);
              break;
            }
          case 78 /* SPREAD_OBJECT */:
            sp--;
            frame.ip = ip;
            if (copyOwn(vm, frame, ip, sp - 1, registers[sp - 1] as PlainObject, registers[sp] as Value)) continue reload;
            break;
          case 79 /* GET_PROP */:
            {
              const key = constants[code[ip++]] as string;
              const object = registers[sp - 1] as Value;
              if (object instanceof PlainObject) {
                const value = object.props[key];
                if (value !== undefined) {
                  registers[sp - 1] = value;
                  break;
                }
              }
              frame.ip = ip;
              registers[sp - 1] = getProperty(vm, object, key);
              break;
            }
          case 114 /* GET_PROP_OF */:
            {
              const object = registers[code[ip]] as Value;
              const key = constants[code[ip + 1]] as string;
              ip += 2;
              if (object instanceof PlainObject) {
                const value = object.props[key];
                if (value !== undefined) {
                  registers[sp++] = value;
                  break;
                }
              }
              frame.ip = ip;
              registers[sp++] = getProperty(vm, object, key);
              break;
            }
          case 80 /* SET_PROP */:
            {
              const key = constants[code[ip++]] as string;
              const value = registers[--sp] as Value;
              const object = registers[sp - 1] as Value;
              if (object instanceof PlainObject && !object.frozen && object.props[key] !== undefined) object.props[key] = value;
              else if (key === 'length' && value instanceof HeapObject) {
                // Only the length of an array converts what is assigned to it, which may call flow code.
                if (operate(vm, frame, ip, sp - 1, slow.SET_INDEX, object, key, value)) continue reload;
              } else {
                frame.ip = ip;
                setProperty(vm, object, key, value);
              }
              registers[sp - 1] = value;
              break;
            }
          case 81 /* GET_INDEX */:
            {
              const key = registers[--sp] as Value;
              const object = registers[sp - 1] as Value;
              if (typeof key === 'number' && object instanceof ArrayObject && key >= 0 && key < object.elements.length) {
                const value = object.elements[key];
                // A fraction finds nothing in the elements: it names a property.
                if (value !== undefined || Number.isInteger(key)) {
                  registers[sp - 1] = value;
                  break;
                }
              }
              if (typeof key === 'string' && object instanceof PlainObject && key.length <= LONGEST_HASHED) {
                vm.chargeRead(key.length);
                const value = object.props[key];
                if (value !== undefined) {
                  registers[sp - 1] = value;
                  break;
                }
              } else if (typeof key === 'number' && typeof object === 'string' && key >= 0 && key < object.length) {
                vm.chargeRead(object.length);
                registers[sp - 1] = object[key];
                break;
              }
              if (operate(vm, frame, ip, sp - 1, slow.GET_INDEX, object, key)) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 82 /* SET_INDEX */:
            {
              sp -= 2;
              const object = registers[sp - 1] as Value;
              const key = registers[sp] as Value;
              const value = registers[sp + 1] as Value;
              if (typeof key === 'number' && object instanceof ArrayObject && key >= 0 && key < 4294967295 && Number.isInteger(key)) {
                frame.ip = ip;
                if (key < object.elements.length && !object.frozen) object.elements[key] = value;
                else setElement(vm, object, key, value);
                registers[sp - 1] = value;
                break;
              }
              if (operate(vm, frame, ip, sp - 1, slow.SET_INDEX, object, key, value)) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 83 /* DELETE_PROP */:
            frame.ip = ip;
            registers[sp - 1] = deleteProperty(vm, registers[sp - 1] as Value, constants[code[ip++]] as string);
            break;
          case 84 /* DELETE_INDEX */:
            {
              const key = registers[--sp] as Value;
              if (operate(vm, frame, ip, sp - 1, slow.DELETE_INDEX, registers[sp - 1] as Value, key)) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 85 /* GET_METHOD */:
            {
              const key = constants[code[ip++]] as string;
              frame.ip = ip;
              registers[sp] = getProperty(vm, registers[sp - 1] as Value, key);
              sp++;
              break;
            }
          case 86 /* GET_METHOD_INDEX */:
            {
              const key = registers[sp - 1] as Value;
              if (operate(vm, frame, ip, sp - 1, slow.GET_INDEX, registers[sp - 2] as Value, key)) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 87 /* REQUIRE_OBJECT */:
            {
              const object = registers[sp - 1];
              if (object === undefined || object === null) {
                frame.ip = ip;
                throw vm.error('TypeError', `Cannot destructure '${object}' as it is ${object}.`);
              }
              break;
            }
          case 88 /* OBJECT_REST */:
            {
              const count = code[ip++];
              sp -= count;
              frame.ip = ip;
              if (restOf(vm, frame, ip, sp - 1, registers[sp - 1] as Value, registers.slice(sp, sp + count) as string[])) continue reload;
              registers[sp - 1] = vm.result;
              break;
            }
          case 89 /* CALL */:
            {
              const count = code[ip];
              sp -= count + 1;
              frame.ip = ip + 2;
              frame.sp = sp;
              const callee = registers[sp] as Value;
              if (vm.fuel < vm.fuelFloor && vm.checkpoint(0)) {
                frame.ip = ip - 1;
                frame.sp = sp + count + 1;
                return;
              }
              if (callee instanceof FunctionObject) {
                enter(vm, callee, registers, sp + 1, count);
                continue reload;
              }
              const result = vm.call(
                callee,
                undefined,
                registers.slice(sp + 1, sp + 1 + count) as Value[],
                constants[code[ip + 1]] as string,
              );
              if (result === PUSHED) continue reload;
              ip += 2;
              registers[sp++] = result;
              break;
            }
          case 90 /* CALL_METHOD */:
            {
              const count = code[ip];
              sp -= count + 2;
              frame.ip = ip + 2;
              frame.sp = sp;
              const callee = registers[sp + 1] as Value;
              if (vm.fuel < vm.fuelFloor && vm.checkpoint(0)) {
                frame.ip = ip - 1;
                frame.sp = sp + count + 2;
                return;
              }
              if (callee instanceof FunctionObject) {
                enter(vm, callee, registers, sp + 2, count);
                continue reload;
              }
              const args = registers.slice(sp + 2, sp + 2 + count) as Value[];
              const result = vm.call(callee, registers[sp] as Value, args, constants[code[ip + 1]] as string);
              if (result === PUSHED) continue reload;
              ip += 2;
              registers[sp++] = result;
              break;
            }
          case 91 /* CALL_SPREAD */:
            {
              sp -= 2;
              frame.ip = ip + 1;
              frame.sp = sp;
              const { elements } = registers[sp + 1] as ArrayObject;
              const result = vm.call(registers[sp] as Value, undefined, elements, constants[code[ip]] as string);
              if (result === PUSHED) continue reload;
              ip++;
              registers[sp++] = result;
              break;
            }
          case 92 /* CALL_METHOD_SPREAD */:
            {
              sp -= 3;
              frame.ip = ip + 1;
              frame.sp = sp;
              const { elements } = registers[sp + 2] as ArrayObject;
              const result = vm.call(registers[sp + 1] as Value, registers[sp] as Value, elements, constants[code[ip]] as string);
              if (result === PUSHED) continue reload;
              ip++;
              registers[sp++] = result;
              break;
            }
          case 93 /* NEW */:
            {
              const count = code[ip];
              sp -= count + 1;
              frame.ip = ip + 2;
              frame.sp = sp;
              const args = registers.slice(sp + 1, sp + 1 + count) as Value[];
              const result = vm.construct(registers[sp] as Value, args, constants[code[ip + 1]] as string);
              if (result === PUSHED) continue reload;
              ip += 2;
              registers[sp++] = result;
              break;
            }
          case 94 /* NEW_SPREAD */:
            {
              sp -= 2;
              frame.ip = ip + 1;
              frame.sp = sp;
              const result = vm.construct(
                registers[sp] as Value,
                (registers[sp + 1] as ArrayObject).elements,
                constants[code[ip]] as string,
              );
              if (result === PUSHED) continue reload;
              ip++;
              registers[sp++] = result;
              break;
            }
          case 95 /* ITERATE */:
            frame.ip = ip;
            vm.chargeBytes(ITERATOR_BYTES);
            if (typeof registers[sp - 1] === 'string') vm.chargeRead((registers[sp - 1] as string).length);
            registers[sp - 1] = iteratorOf(vm, registers[sp - 1] as Value);
            break;
          case 96 /* FOR_IN */:
            frame.ip = ip;
            if (!isLong(registers[sp - 1] as Value)) registers[sp - 1] = keysOf(vm, registers[sp - 1] as Value);
            else if (operate(vm, frame, ip, sp - 1, slow.FOR_IN, registers[sp - 1] as Value)) continue reload;
            else registers[sp - 1] = vm.result;
            break;
          case 97 /* NEXT */:
            {
              const target = code[ip++];
              const value = nextOf(vm, registers[sp - 1] as IteratorObject);
              if (value === DONE) {
                sp--;
                ip = target;
              } else registers[sp++] = value;
              break;
            }
          case 98 /* NEXT_OR_UNDEFINED */:
            {
              const value = nextOf(vm, registers[sp - 1 - code[ip++]] as IteratorObject);
              registers[sp++] = value === DONE ? undefined : value;
              break;
            }
          case 99 /* REST_ELEMENTS */:
            {
              const rest = vm.newArray([]);
              const iterator = registers[sp - 1 - code[ip++]] as IteratorObject;
              if (!isLongWalk(iterator)) appendAll(vm, rest, iterator);
              else if (operate(vm, frame, ip, sp, slow.APPEND_ALL, rest, iterator)) continue reload;
              registers[sp++] = rest;
              break;
            }
          case 100 /* THROW */:
            frame.ip = ip;
            throw vm.thrown(registers[--sp] as Value);
          case 101 /* RETURN */:
            {
              const value = registers[sp - 1] as Value;
              if (frame.promise !== null) {
                vm.finishAsync(frame, value);
                continue reload;
              }
              vm.frames.pop();
              const { frames } = vm;
              const below = frames.length > 0 ? frames[frames.length - 1] : null;
              if (below instanceof Frame) below.registers[below.sp++] = value;
              else vm.deliver(value);
              continue reload;
            }
          case 102 /* AWAIT */:
            {
              const value = registers[--sp] as Value;
              frame.ip = ip;
              frame.sp = sp;
              vm.suspend(frame, value);
              continue reload;
            }
          case 103 /* FINALLY_JUMP */:
            {
              const kind = code[ip];
              const target = code[ip + 1];
              ip += 2;
              if (registers[sp - 1] === kind) {
                sp--;
                ip = target;
              }
              break;
            }
          case 104 /* END_FINALLY */:
            {
              const kind = registers[--sp];
              const value = registers[--sp] as Value;
              frame.ip = ip;
              if (kind === 1) throw vm.thrown(value);
              break;
            }
          default:
            throw new Error(`unknown instruction ${code[ip - 1]}`);
        }
      }
    } catch (error) {
      // `ip` is inside or just after the instruction that threw, in the frame that was on top.
      if (vm.frames[vm.frames.length - 1] === frame) frame.ip = ip;
      vm.raise(error);
    }
  }
}

function enter(vm: Vm, fn: FunctionObject, from: Register[], start: number, count: number): void {
  const { code } = fn;
  if (code.rest) return vm.pushFrame(fn, from.slice(start, start + count) as Value[]);
  vm.chargeFrame(code);
  const registers = newRegisters(code);
  const given = count < code.parameters ? count : code.parameters;
  for (let at = 0; at < given; at++) registers[at] = from[start + at];
  vm.frames.push(new Frame(fn, registers, code.isAsync ? vm.newPromise() : null));
}

/** Runs the slow form of an operator: true when frames were pushed (its result comes later), else `vm.result` holds it. */
function operate(vm: Vm, frame: Frame, ip: number, sp: number, native: NativeDefinition, ...operands: Value[]): boolean {
  frame.ip = ip;
  frame.sp = sp;
  const result = vm.callDefinition(native, undefined, operands);
  if (result === PUSHED) return true;
  vm.result = result;
  return false;
}

/** The same for a comparison that is fused with its jump. */
function branch(vm: Vm, frame: Frame, ip: number, sp: number, native: NativeDefinition, a: Value, b: Value, target: number): boolean {
  const rest = new ContinueFrame((value) => {
    if (value !== true) frame.ip = target;
  });
  vm.frames.push(rest);
  if (operate(vm, frame, ip, sp, native, a, b)) return true;
  vm.frames.pop();
  return false;
}

/** The same for ++ and -- of a variable that does not hold a number. */
function store(vm: Vm, frame: Frame, ip: number, sp: number, value: Value, then: (number: number) => void): boolean {
  vm.frames.push(new ContinueFrame((result) => then(result as number)));
  if (operate(vm, frame, ip, sp, slow.PLUS, value)) return true;
  vm.frames.pop();
  then(vm.result as number);
  return false;
}

function deadZoneError(vm: Vm, frame: Frame, ip: number, name: unknown): Error {
  frame.ip = ip;
  return vm.error('ReferenceError', `Cannot access '${name}' before initialization`);
}

function longestPart(registers: readonly Register[], from: number, count: number): number {
  let longest = 0;
  for (let at = from; at < from + count; at++) longest = Math.max(longest, (registers[at] as string).length);
  return longest;
}

function closure(vm: Vm, frame: Frame, code: Vm['program']['functions'][number], name: string | null): FunctionObject {
  const { captures } = code;
  if (captures.length === 0) {
    vm.chargeBytes(FUNCTION_BYTES);
    return new FunctionObject(code, NO_CELLS, name);
  }
  vm.chargeBytes(FUNCTION_BYTES + CAPTURES_BYTES + captures.length * 8);
  const cells: Cell[] = new Array(captures.length);
  for (let at = 0; at < captures.length; at++) {
    const source = captures[at];
    cells[at] = source >= 0 ? (frame.registers[source] as Cell) : frame.cells[~source];
  }
  return new FunctionObject(code, cells, name);
}

function appendAll(vm: Vm, array: ArrayObject, iterator: IteratorObject): void {
  for (;;) {
    const value = vm.next(iterator);
    if (value === DONE) return;
    vm.chargeBytes(array.elements.length === 0 ? ELEMENT_BYTES + FIRST_ELEMENT_BYTES : ELEMENT_BYTES);
    array.elements.push(value);
  }
}

/** `{ ...source }`: own enumerable properties; null, undefined, numbers and booleans have none. True when frames were pushed. */
function copyOwn(vm: Vm, frame: Frame, ip: number, sp: number, target: PlainObject, source: Value): boolean {
  if (source === undefined || source === null) return false;
  if (isLong(source)) return operate(vm, frame, ip, sp, slow.COPY_PROPERTIES, target, source);
  const keys = vm.ownKeys(source);
  if (keys.length > LONG_LIST) return operate(vm, frame, ip, sp, slow.COPY_PROPERTIES, target, source, vm.newArray(keys));
  if (source instanceof PlainObject) copyPlain(vm, target, source.props, keys);
  else for (const key of keys) defineOwn(vm, target, key, getProperty(vm, source, key));
  return false;
}

/** Much used, for `{ ...record, changed: 1 }`. */
function copyPlain(vm: Vm, target: PlainObject, from: Properties, keys: readonly string[]): void {
  const { props } = target;
  target.added += keys.length;
  vm.charge(keys.length * NEW_KEY);
  for (const key of keys) {
    if (!(key in props)) chargeKeyBytes(vm, props, key);
    props[key] = from[key];
  }
}

/** The rest of a destructured object: true when frames were pushed, else it is `vm.result`. */
function restOf(vm: Vm, frame: Frame, ip: number, sp: number, source: Value, taken: readonly string[]): boolean {
  const rest = vm.newObject();
  const skip = new Set(taken);
  const keys = isLong(source) ? undefined : vm.ownKeys(source);
  if (keys === undefined || keys.length > LONG_LIST) {
    const skipped = vm.newArray([...skip]);
    return operate(vm, frame, ip, sp, slow.COPY_PROPERTIES, rest, source, keys && vm.newArray(keys), skipped);
  }
  for (const key of keys) if (!skip.has(key)) defineOwn(vm, rest, key, getProperty(vm, source, key));
  vm.result = rest;
  return false;
}

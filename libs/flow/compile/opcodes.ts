// The one table of instructions: operands, effect on the operand stack, and whether it may throw.
// Numbers are stored with programs: append only, never reorder. The dispatch loop repeats them as literals; a spec compares.
// Names and operand counts are types derived from this table: a typo in an `emit` does not compile.

/** What an operand means, so that a stored program can be validated. */
export type OperandKind = 'constant' | 'name' | 'slot' | 'cell' | 'function' | 'target' | 'number' | 'count';

export interface Opcode {
  readonly name: string;
  readonly operands: readonly OperandKind[];
  /** Values taken from and left on the stack; a `count` operand n adds n × `perCount` to what is taken. */
  readonly pops: number;
  readonly pushes: number;
  readonly perCount: number;
  /** What stays of the stack when the jump is taken, as a difference to the depth before; absent when it does not jump. */
  readonly jumpEffect?: number;
  /** Control never reaches the next instruction. */
  readonly ends: boolean;
  readonly throws: boolean;
  readonly meaning: string;
}

/** Separated by blanks; no instruction has more than two. */
type OperandsText = '' | OperandKind | `${OperandKind} ${OperandKind}`;

type Row = readonly [
  name: string,
  operands: OperandsText,
  pops: number,
  pushes: number,
  throws: 0 | 1,
  meaning: string,
  extra?: Partial<Opcode>,
];

const ROWS = [
  ['CONST', 'constant', 0, 1, 0, 'push a constant'],
  ['INT', 'number', 0, 1, 0, 'push a small whole number'],
  ['UNDEFINED', '', 0, 1, 0, 'push undefined'],
  ['NULL', '', 0, 1, 0, 'push null'],
  ['TRUE', '', 0, 1, 0, 'push true'],
  ['FALSE', '', 0, 1, 0, 'push false'],
  ['POP', '', 1, 0, 0, 'drop the top'],
  ['DUP', '', 1, 2, 0, 'a → a a'],
  ['DUP2', '', 2, 4, 0, 'a b → a b a b'],
  ['SWAP', '', 2, 2, 0, 'a b → b a'],
  ['PICK', 'number', 0, 1, 0, 'push a copy of the value n below the top'],
  ['NIP', 'count', 1, 1, 0, 'drop the n values below the top', { perCount: 1 }],
  ['GET', 'slot', 0, 1, 0, 'push a variable that is certainly initialised'],
  ['SET', 'slot', 1, 0, 0, 'store into a variable that is certainly initialised, or initialise it'],
  ['GET_CHECKED', 'slot name', 0, 1, 1, 'push a variable; ReferenceError in its dead zone'],
  ['SET_CHECKED', 'slot name', 1, 0, 1, 'store into a variable; ReferenceError in its dead zone'],
  ['UNSET', 'slot', 0, 0, 0, 'begin the dead zone of a variable'],
  ['NEW_CELL', 'slot', 0, 0, 0, 'create the cell of a captured variable, in its dead zone'],
  ['BOX', 'slot', 0, 0, 0, 'move a parameter that is captured into a cell'],
  ['COPY_CELL', 'slot', 0, 0, 0, 'give the next iteration of for(let …) its own cell with the same value'],
  ['GET_CELL', 'slot name', 0, 1, 1, 'push a captured variable of this function; ReferenceError in its dead zone'],
  ['SET_CELL', 'slot name', 1, 0, 1, 'store into it; ReferenceError in its dead zone'],
  ['INIT_CELL', 'slot', 1, 0, 0, 'initialise it'],
  ['GET_CAPTURED', 'cell name', 0, 1, 1, 'push a variable captured from an outer function; ReferenceError in its dead zone'],
  ['SET_CAPTURED', 'cell name', 1, 0, 1, 'store into it; ReferenceError in its dead zone'],
  ['GLOBAL', 'name', 0, 1, 0, 'push a built-in by its name'],
  ['CLOSURE', 'function', 0, 1, 1, 'make a function with the cells it captures'],
  ['CLOSURE_KEYED', 'function', 1, 2, 1, 'key → key function, named after the key'],
  ['ADD', '', 2, 1, 1, 'a + b'],
  ['SUB', '', 2, 1, 1, 'a - b'],
  ['MUL', '', 2, 1, 1, 'a * b'],
  ['DIV', '', 2, 1, 1, 'a / b'],
  ['MOD', '', 2, 1, 1, 'a % b'],
  ['POW', '', 2, 1, 1, 'a ** b'],
  ['BIT_AND', '', 2, 1, 1, 'a & b'],
  ['BIT_OR', '', 2, 1, 1, 'a | b'],
  ['BIT_XOR', '', 2, 1, 1, 'a ^ b'],
  ['SHL', '', 2, 1, 1, 'a << b'],
  ['SHR', '', 2, 1, 1, 'a >> b'],
  ['USHR', '', 2, 1, 1, 'a >>> b'],
  ['EQ', '', 2, 1, 1, 'a == b'],
  ['NE', '', 2, 1, 1, 'a != b'],
  ['SEQ', '', 2, 1, 0, 'a === b'],
  ['SNE', '', 2, 1, 0, 'a !== b'],
  ['LT', '', 2, 1, 1, 'a < b'],
  ['LE', '', 2, 1, 1, 'a <= b'],
  ['GT', '', 2, 1, 1, 'a > b'],
  ['GE', '', 2, 1, 1, 'a >= b'],
  ['IN', '', 2, 1, 1, 'key in object'],
  ['INSTANCEOF', '', 2, 1, 1, 'value instanceof built-in'],
  ['NEG', '', 1, 1, 1, '-a'],
  ['PLUS', '', 1, 1, 1, '+a; also what ++ and -- do first'],
  ['NOT', '', 1, 1, 0, '!a'],
  ['BIT_NOT', '', 1, 1, 1, '~a'],
  ['TYPEOF', '', 1, 1, 0, 'typeof a'],
  ['INC', '', 1, 1, 0, 'number + 1'],
  ['DEC', '', 1, 1, 0, 'number - 1'],
  ['TO_STRING', '', 1, 1, 1, 'a as a template writes it'],
  ['TO_KEY', '', 1, 1, 1, 'a as a property key'],
  ['CONCAT', 'count', 0, 1, 1, 'join n strings', { perCount: 1 }],
  ['JUMP', 'target', 0, 0, 0, 'go on at the target', { jumpEffect: 0, ends: true }],
  ['LOOP', 'target number', 0, 0, 0, 'go back to the target, charging the fuel of one round', { jumpEffect: 0, ends: true }],
  ['JUMP_IF_FALSE', 'target', 1, 0, 0, 'pop; jump if falsy', { jumpEffect: -1 }],
  ['JUMP_IF_TRUE', 'target', 1, 0, 0, 'pop; jump if truthy', { jumpEffect: -1 }],
  ['AND', 'target', 1, 0, 0, 'jump with the value if falsy, else drop it', { jumpEffect: 0 }],
  ['OR', 'target', 1, 0, 0, 'jump with the value if truthy, else drop it', { jumpEffect: 0 }],
  ['COALESCE', 'target', 1, 0, 0, 'jump with the value unless it is null or undefined, else drop it', { jumpEffect: 0 }],
  ['DEFAULT', 'target', 1, 0, 0, 'jump with the value unless it is undefined, else drop it', { jumpEffect: 0 }],
  ['NULLISH', 'target', 1, 1, 0, '?.: if the top is null or undefined replace it with undefined and jump', { jumpEffect: 0 }],
  [
    'NULLISH_METHOD',
    'target',
    2,
    2,
    0,
    'object function: if the top is null or undefined replace both with undefined and jump',
    { jumpEffect: -1 },
  ],
  ['CASE', 'target', 2, 1, 0, 'subject value: on === drop both and jump, else drop the value', { jumpEffect: -2 }],
  ['NEW_OBJECT', '', 0, 1, 1, 'push {}'],
  ['NEW_ARRAY', 'count', 0, 1, 1, 'make an array of the n values on top', { perCount: 1 }],
  ['APPEND', '', 2, 1, 1, 'array value → array'],
  ['APPEND_HOLE', '', 1, 1, 1, 'array → array with one more hole'],
  ['APPEND_ALL', '', 2, 1, 1, 'array iterable → array'],
  ['DEFINE', 'name', 2, 1, 1, 'object value → object with that own property'],
  ['DEFINE_KEYED', '', 3, 1, 1, 'object key value → object'],
  ['SPREAD_OBJECT', '', 2, 1, 1, 'object source → object with the own properties of source'],
  ['GET_PROP', 'name', 1, 1, 1, 'object → object.name'],
  ['SET_PROP', 'name', 2, 1, 1, 'object value → value, stored'],
  ['GET_INDEX', '', 2, 1, 1, 'object key → object[key]'],
  ['SET_INDEX', '', 3, 1, 1, 'object key value → value, stored'],
  ['DELETE_PROP', 'name', 1, 1, 1, 'object → true'],
  ['DELETE_INDEX', '', 2, 1, 1, 'object key → true'],
  ['GET_METHOD', 'name', 1, 2, 1, 'object → object function'],
  ['GET_METHOD_INDEX', '', 2, 2, 1, 'object key → object function'],
  ['REQUIRE_OBJECT', '', 1, 1, 1, 'TypeError on null and undefined: they cannot be destructured'],
  ['OBJECT_REST', 'count', 1, 1, 1, 'source, n keys → object with the other properties', { perCount: 1 }],
  ['CALL', 'count name', 1, 1, 1, 'function, n arguments → result', { perCount: 1 }],
  ['CALL_METHOD', 'count name', 2, 1, 1, 'receiver function, n arguments → result', { perCount: 1 }],
  ['CALL_SPREAD', 'name', 2, 1, 1, 'function array → result'],
  ['CALL_METHOD_SPREAD', 'name', 3, 1, 1, 'receiver function array → result'],
  ['NEW', 'count name', 1, 1, 1, 'constructor, n arguments → object', { perCount: 1 }],
  ['NEW_SPREAD', 'name', 2, 1, 1, 'constructor array → object'],
  ['ITERATE', '', 1, 1, 1, 'iterable → iterator'],
  ['FOR_IN', '', 1, 1, 1, 'object → iterator over its keys'],
  ['NEXT', 'target', 1, 2, 0, 'iterator → iterator value; when done drop it and jump', { jumpEffect: -1 }],
  ['NEXT_OR_UNDEFINED', 'number', 0, 1, 0, 'push the next value of the iterator n below the top, or undefined'],
  ['REST_ELEMENTS', 'number', 0, 1, 1, 'push an array of what is left in the iterator n below the top'],
  ['THROW', '', 1, 0, 1, 'throw the top', { ends: true }],
  ['RETURN', '', 1, 0, 1, 'leave the function with the top', { ends: true }],
  ['AWAIT', '', 1, 1, 1, 'wait for the top; push its value or throw its reason'],
  ['FINALLY_JUMP', 'number target', 2, 2, 0, 'value kind: if the completion is of this kind drop the kind and jump', { jumpEffect: -1 }],
  ['END_FINALLY', '', 2, 0, 1, 'value kind: go on after a normal completion, throw again after a throw'],
  ['INC_LOCAL', 'slot', 0, 0, 1, 'variable++ with the result unused'],
  ['DEC_LOCAL', 'slot', 0, 0, 1, 'variable-- with the result unused'],
  ['GET2', 'slot slot', 0, 2, 0, 'push two variables'],
  ['JUMP_UNLESS_LT', 'target', 2, 0, 1, 'jump unless a < b', { jumpEffect: -2 }],
  ['JUMP_UNLESS_LE', 'target', 2, 0, 1, 'jump unless a <= b', { jumpEffect: -2 }],
  ['JUMP_UNLESS_GT', 'target', 2, 0, 1, 'jump unless a > b', { jumpEffect: -2 }],
  ['JUMP_UNLESS_GE', 'target', 2, 0, 1, 'jump unless a >= b', { jumpEffect: -2 }],
  ['JUMP_UNLESS_SEQ', 'target', 2, 0, 0, 'jump unless a === b', { jumpEffect: -2 }],
  ['JUMP_UNLESS_SNE', 'target', 2, 0, 0, 'jump unless a !== b', { jumpEffect: -2 }],
  ['GET_PROP_OF', 'slot name', 0, 1, 1, 'push variable.name'],
  ['SELF', '', 0, 1, 0, 'push the running function, for the name of a function expression'],
] as const satisfies readonly Row[];

type Rows = (typeof ROWS)[number];

/** The name of an instruction. */
export type OpName = Rows[0];

type OperandsOf<Name extends OpName> = Extract<Rows, readonly [Name, ...unknown[]]>[1];

type Numbers<Text extends string> = Text extends ''
  ? []
  : Text extends `${OperandKind} ${infer Rest}`
    ? [number, ...Numbers<Rest>]
    : [number];

/** The operands of an instruction: one number each. */
export type Operands<Name extends OpName> = Name extends OpName ? Numbers<OperandsOf<Name>> : never;

/** An instruction without operands that takes and leaves so many values. */
export type OpOf<Pops extends number, Pushes extends number> = Extract<Rows, readonly [string, '', Pops, Pushes, ...unknown[]]>[0];

type JumpRows = Extract<Rows, readonly [string, 'target' | `${string} target`, ...unknown[]]>;

/** An instruction whose last operand is where it may jump to. */
export type JumpName = JumpRows[0];

type BeforeTarget<Text extends string> = Text extends `${infer Before} target` ? Numbers<Before> : [];

/** The operands of a jump without its target. */
export type JumpOperands<Name extends JumpName> = Name extends OpName ? BeforeTarget<OperandsOf<Name>> : never;

/** By number. */
export const OPCODES: readonly Opcode[] = Object.freeze(
  ROWS.map(([name, operands, pops, pushes, throws, meaning, extra]: Row) => ({
    name,
    operands: operands === '' ? [] : (operands.split(' ') as OperandKind[]),
    pops,
    pushes,
    perCount: 0,
    ends: false,
    throws: throws === 1,
    meaning,
    ...extra,
  })),
);

/** By name, for the compiler. */
export const OP = Object.freeze(Object.fromEntries(ROWS.map(([name], number) => [name, number]))) as Readonly<Record<OpName, number>>;

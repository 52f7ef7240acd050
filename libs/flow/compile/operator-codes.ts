// The instructions of JavaScript's operators.

import type { OpOf } from './opcodes.js';

export const BINARY: Record<string, OpOf<2, 1>> = {
  '+': 'ADD',
  '-': 'SUB',
  '*': 'MUL',
  '/': 'DIV',
  '%': 'MOD',
  '**': 'POW',
  '&': 'BIT_AND',
  '|': 'BIT_OR',
  '^': 'BIT_XOR',
  '<<': 'SHL',
  '>>': 'SHR',
  '>>>': 'USHR',
  '==': 'EQ',
  '!=': 'NE',
  '===': 'SEQ',
  '!==': 'SNE',
  '<': 'LT',
  '<=': 'LE',
  '>': 'GT',
  '>=': 'GE',
  in: 'IN',
  instanceof: 'INSTANCEOF',
};
export const UNARY: Record<string, OpOf<1, 1>> = { '-': 'NEG', '+': 'PLUS', '!': 'NOT', '~': 'BIT_NOT', typeof: 'TYPEOF' };
export const LOGICAL: Record<string, 'AND' | 'OR' | 'COALESCE'> = { '&&': 'AND', '||': 'OR', '??': 'COALESCE' };

// Refusals found by resolving names: those that are not declared, declared twice, or built in.

import type { Refusal } from './refusal.js';

export const REFUSED_NAMES = {
  FLOW_UNDECLARED: {
    message: '"{name}" is not declared',
    advice: '{hint}',
    example: 'const total = 1\nreturn totl',
    instead: 'const total = 1\nreturn total',
  },
  FLOW_REDECLARED: {
    message: '"{name}" is already declared here',
    advice: 'Use another name, or assign to it: {name} = ….',
    example: 'let a = 1\nlet a = 2',
    instead: 'let a = 1\na = 2',
  },
  FLOW_CONST_ASSIGNMENT: {
    message: '"{name}" is a constant and cannot be assigned',
    advice: '{hint}',
    example: 'const a = 1\na = 2',
    instead: 'let a = 1\na = 2',
  },
  FLOW_BUILT_IN_NAME: {
    message: '"{name}" is a built-in name and cannot be {done}',
    advice: '{hint}',
    example: 'let Task = 1',
    instead: 'let task = 1',
  },
  FLOW_BUILT_IN_CHANGE: {
    message: '{name} is built in: its properties cannot be set or deleted',
    advice: 'Keep the value in a variable or in an object of your own.',
    example: 'JSON.indent = 2',
    instead: 'const settings = { indent: 2 }',
  },
  FLOW_NO_MEMBER: {
    message: '{name} has no "{member}" in Flow',
    advice: '{hint}',
    example: 'return Math.mx(1, 2)',
    instead: 'return Math.max(1, 2)',
  },
} satisfies Record<string, Refusal>;

// `Error` and its kinds, which a flow may make with or without `new`.

import { ERROR_KINDS, type ErrorKind } from '../error-kinds.js';
import { type BuiltinFamily, DONE, type Machine, methods, type NativeDefinition, native } from '../vm/native.js';
import { ErrorObject, HeapObject, type NativeFunction, type Value } from '../vm/values.js';
import { byFirst } from './cost.js';
import { thisError } from './receiver.js';

function create(vm: Machine, kind: ErrorKind, message: Value, options: Value): ErrorObject {
  const text = message === undefined ? undefined : vm.toString(message);
  const hasCause = options instanceof HeapObject && vm.hasProperty(options, 'cause');
  return vm.newError(kind, text, hasCause ? { cause: vm.getProperty(options, 'cause') } : undefined);
}

function constructorOf(kind: ErrorKind, length: number, make: NativeDefinition['construct']): NativeFunction {
  return native({
    name: kind,
    length,
    cost: byFirst,
    call: make,
    construct: make,
    hasInstance: (value) => value instanceof ErrorObject && (kind === 'Error' || value.errorKind === kind),
    unsupportedStatics: ['captureStackTrace', 'stackTraceLimit', 'prepareStackTrace', 'isError', 'prototype'],
  });
}

const CONSTRUCTORS: Record<string, NativeFunction> = {};
for (const kind of ERROR_KINDS) {
  if (kind !== 'AggregateError') CONSTRUCTORS[kind] = constructorOf(kind, 1, (vm, _receiver, args) => create(vm, kind, args[0], args[1]));
}

CONSTRUCTORS.AggregateError = constructorOf('AggregateError', 2, (vm, _receiver, args) => {
  const error = create(vm, 'AggregateError', args[1], args[2]);
  const iterator = vm.iteratorOf(args[0]);
  const errors: Value[] = [];
  for (let each = vm.next(iterator); each !== DONE; each = vm.next(iterator)) {
    vm.chargeElements(1);
    errors.push(each);
  }
  error.hidden.errors = vm.newArray(errors);
  return error;
});

const toText = native({
  name: 'Error.prototype.toString',
  length: 0,
  cost: 2,
  call(vm, receiver) {
    const error = thisError(vm, receiver);
    const ownName = vm.getProperty(error, 'name');
    const name = ownName === undefined ? 'Error' : vm.toString(ownName);
    const ownMessage = vm.getProperty(error, 'message');
    return headline(vm, name, ownMessage === undefined ? '' : vm.toString(ownMessage));
  },
  *steps(vm, receiver) {
    const error = thisError(vm, receiver);
    const ownName = vm.getProperty(error, 'name');
    const name = ownName === undefined ? 'Error' : yield* vm.toStringSteps(ownName);
    const ownMessage = vm.getProperty(error, 'message');
    return headline(vm, name, ownMessage === undefined ? '' : yield* vm.toStringSteps(ownMessage));
  },
});

function headline(vm: Machine, name: string, message: string): string {
  vm.chargeString(name.length + message.length + 2);
  if (name === '') return message;
  return message === '' ? name : `${name}: ${message}`;
}

export const ERRORS: BuiltinFamily = {
  globals: CONSTRUCTORS,
  types: {
    error: {
      methods: methods([toText]),
      unsupported: ['constructor'],
    },
  },
};

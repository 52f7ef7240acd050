// `Error` and its kinds, which a flow may make with or without `new`.

import { ERROR_KINDS, type ErrorKind } from '../error-kinds.js';
import {
  type BuiltinFamily,
  DONE,
  type Machine,
  methods,
  type NativeCall,
  type NativeDefinition,
  native,
  PAUSE,
  type Steps,
} from '../vm/native.js';
import { ErrorObject, HeapObject, type NativeFunction, type Value } from '../vm/values.js';
import { byFirst } from './cost.js';
import { thisError } from './receiver.js';

function create(vm: Machine, kind: ErrorKind, message: Value, options: Value): ErrorObject {
  const text = message === undefined ? undefined : vm.toString(message);
  const hasCause = options instanceof HeapObject && vm.hasProperty(options, 'cause');
  return vm.newError(kind, text, hasCause ? { cause: vm.getProperty(options, 'cause') } : undefined);
}

type Makers = Pick<NativeDefinition, 'call' | 'construct' | 'steps' | 'constructSteps'>;

function constructorOf(kind: ErrorKind, length: number, makers: Makers): NativeFunction {
  return native({
    name: kind,
    length,
    cost: byFirst,
    ...makers,
    hasInstance: (value) => value instanceof ErrorObject && (kind === 'Error' || value.errorKind === kind),
    unsupportedStatics: ['captureStackTrace', 'stackTraceLimit', 'prepareStackTrace', 'isError', 'prototype'],
  });
}

const CONSTRUCTORS: Record<string, NativeFunction> = {};
for (const kind of ERROR_KINDS) {
  if (kind === 'AggregateError') continue;
  const make: NativeCall = (vm, _receiver, args) => create(vm, kind, args[0], args[1]);
  CONSTRUCTORS[kind] = constructorOf(kind, 1, { call: make, construct: make });
}

function* aggregate(vm: Machine, _receiver: Value, args: readonly Value[]): Steps<Value> {
  const message = args[1] === undefined ? undefined : yield* vm.toStringSteps(args[1]);
  const error = create(vm, 'AggregateError', message, args[2]);
  const iterator = vm.iteratorOf(args[0]);
  const errors: Value[] = [];
  vm.hold(errors);
  for (let each = vm.next(iterator); each !== DONE; each = vm.next(iterator)) {
    if (vm.isDue) yield PAUSE;
    vm.chargeElements(1);
    errors.push(each);
  }
  error.hidden.errors = vm.newArray(errors);
  return error;
}
CONSTRUCTORS.AggregateError = constructorOf('AggregateError', 2, { steps: aggregate, constructSteps: aggregate });

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

// Converts errors: ErrorData into error objects of the flow, and back.

import { type ErrorKind, isErrorKind } from '../error-kinds.js';
import type { ErrorData } from '../turn.js';
import { FlowThrow, LimitReached } from './exceptions.js';
import { fromHost, preview, writePayload } from './payload.js';
import { ErrorObject, HeapObject, newProperties, PlainObject, type Value } from './values.js';
import type { Vm } from './vm.js';

const MAX_CAUSES = 16;
const LONGEST_STACK = 8_192;

/** What a durable call rejects with. What the task threw is its `cause`, unless the data has one already. */
export function errorFromData(vm: Vm, data: ErrorData, kind: ErrorKind): ErrorObject {
  const isCancelled = data.name === 'CancelledError';
  const error = build(vm, { ...data, name: isCancelled ? data.name : kind }, 0);
  if (!data.cause && !isCancelled && data.name !== kind)
    error.hidden.cause = build(vm, { name: data.name, message: data.message, code: data.code }, 1);
  return error;
}

function build(vm: Vm, data: ErrorData, depth: number): ErrorObject {
  const kind = isErrorKind(data.name) ? data.name : 'Error';
  const error = vm.newError(kind, String(data.message));
  if (!isErrorKind(data.name)) error.hidden.name = String(data.name);
  if (data.cause && depth < MAX_CAUSES) error.hidden.cause = build(vm, data.cause, depth + 1);
  const props = newProperties();
  if (data.code !== undefined) props.code = String(data.code);
  if (data.data !== undefined) props.data = fromHost(asJson(data.data), vm);
  if (data.attempts !== undefined) props.attempts = Number(data.attempts);
  for (const _key in props) {
    error.props = props;
    break;
  }
  return error;
}

/** Attached data as JSON would represent it: no host object and no cycle gets in. */
function asJson(data: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(data) ?? 'null');
  } catch {
    // An error with data that JSON cannot hold is still delivered, without that data.
    return null;
  }
}

/** Name and message of a thrown value, for one line of a log. */
export function headOf(vm: Vm, thrown: Value): { name: string; message: string } {
  if (!(thrown instanceof ErrorObject)) return headOfOther(thrown);
  return { name: preview(vm.getProperty(thrown, 'name')), message: preview(vm.getProperty(thrown, 'message')) };
}

/** `throw { name, message }` is as readable as an error; of another object the failure keeps what it holds as `data`. */
function headOfOther(thrown: Value): { name: string; message: string } {
  if (!(thrown instanceof HeapObject)) return { name: 'Error', message: `Uncaught ${preview(thrown)}` };
  const { name, message } = thrown instanceof PlainObject ? thrown.props : {};
  return {
    name: typeof name === 'string' && name !== '' ? preview(name) : 'Error',
    message: typeof message === 'string' ? preview(message) : `Uncaught ${preview(thrown)}, which is not an Error`,
  };
}

/** A thrown value as plain data. */
export function errorToData(vm: Vm, thrown: Value, depth = 0): ErrorData {
  if (!(thrown instanceof ErrorObject)) return { ...headOf(vm, thrown), ...dataOf(vm, thrown) };
  const read = (key: string): Value => vm.getProperty(thrown, key);
  const result: ErrorData = { ...headOf(vm, thrown), stack: stackText(read('stack')) };
  const code = read('code');
  if (typeof code === 'string' || typeof code === 'number') result.code = preview(code);
  const attempts = read('attempts');
  if (typeof attempts === 'number') result.attempts = attempts;
  Object.assign(result, dataOf(vm, read('data')));
  const cause = read('cause');
  if (cause !== undefined && depth < MAX_CAUSES) result.cause = errorToData(vm, cause, depth + 1);
  return result;
}

/** The message is its first line, and a flow may make that as long as its heap. */
function stackText(value: Value): string {
  if (typeof value !== 'string') return preview(value);
  return value.length > LONGEST_STACK ? `${value.slice(0, LONGEST_STACK)}…` : value;
}

function dataOf(vm: Vm, value: Value): { data?: unknown } {
  if (value === undefined) return {};
  try {
    const text = writePayload(vm, value, 'data', vm.limits.payloadBytes);
    return text === undefined ? {} : { data: JSON.parse(text) };
  } catch (error) {
    // An error with data that JSON cannot hold, or too much of it, is still reported, without that data.
    if (error instanceof FlowThrow || error instanceof LimitReached) return {};
    throw error;
  }
}

// The kinds of error that a flow can create.

/** The kind is the `name` of an error without an own `name`. */
export const ERROR_KINDS = [
  'Error',
  'TypeError',
  'RangeError',
  'SyntaxError',
  'ReferenceError',
  'EvalError',
  'URIError',
  'AggregateError',
  'TaskError',
  'WorkflowError',
  'TimeoutError',
  'CancelledError',
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

export function isErrorKind(name: string): name is ErrorKind {
  return (ERROR_KINDS as readonly string[]).includes(name);
}

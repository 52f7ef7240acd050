// Durations and options of durable calls that are written as literals and would fail whenever the call is made.

import { CALL_OPTIONS, RETRY_OPTIONS } from '../call-options.js';
import type { Report } from '../diagnostics/fault.js';
import { DurationError, parseDuration } from '../duration.js';
import { nearestName } from '../nearest-name.js';
import type { CallExpression, Expression, SpreadElement } from '../parse/ast.js';
import { calleeName } from './callee-name.js';

/** Position of the options among the arguments. */
const OPTIONS_AT = { 'Task.run': 2, 'Workflow.run': 2, 'Signal.when': 1, 'Signal.next': 1 } as const;
/** Milliseconds of a bare number. */
const SLEEPS: ReadonlyMap<string, number> = new Map([
  ['Timer.sleep', 1],
  ['Timer.delay', 1_000],
  ['sleep', 1_000],
]);
const DURATIONS: readonly string[] = ['timeout', 'delay', 'maxDelay'];

/** Expressions whose value is certainly no object with options. */
const NEVER_OPTIONS: ReadonlySet<string> = new Set([
  'Literal',
  'TemplateLiteral',
  'ArrayExpression',
  'ArrowFunctionExpression',
  'FunctionExpression',
]);

type Argument = Expression | SpreadElement | undefined;

/** `shadowed` are the names that the file declares itself: those are not built-ins. */
export function refuseLiteralOptions(node: CallExpression, shadowed: ReadonlySet<string>, report: Report): void {
  const name = calleeName(node.callee);
  if (name === '' || shadowed.has(name.split('.')[0])) return;
  const unit = SLEEPS.get(name);
  if (unit !== undefined) refuseDuration(node.arguments[0], unit, report);
  if (!Object.hasOwn(OPTIONS_AT, name)) return;
  const at = OPTIONS_AT[name as keyof typeof OPTIONS_AT];
  // After a spread it is unknown which argument is which.
  if (node.arguments.slice(0, at).some(({ type }) => type === 'SpreadElement')) return;
  const known = CALL_OPTIONS[name === 'Signal.next' ? 'Signal.when' : (name as keyof typeof CALL_OPTIONS)];
  refuseOptions(node.arguments[at], name, known, report);
}

function refuseOptions(options: Argument, name: string, known: readonly string[], report: Report): void {
  if (options && NEVER_OPTIONS.has(options.type)) {
    report('FLOW_OPTIONS', options, { name, hint: `Its options are ${known.join(', ')}: write { ${known[0]}: … }.` });
    return;
  }
  if (options?.type !== 'ObjectExpression') return;
  for (const property of options.properties) {
    if (property.type !== 'Property' || property.computed) continue;
    const { key, value } = property;
    const option = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : '';
    if (!known.includes(option)) {
      const nearest = nearestName(option, known);
      report('FLOW_OPTION', key, { name, option, hint: nearest ? `Did you mean ${nearest}?` : `Its options are ${known.join(', ')}.` });
    } else if (option === 'retry') refuseOptions(value as Argument, `the retry of ${name}`, RETRY_OPTIONS, report);
    else if (DURATIONS.includes(option)) refuseDuration(value as Argument, 1, report);
  }
}

function refuseDuration(node: Argument, unit: number, report: Report): void {
  const value = literalOf(node);
  if (node === undefined || value === undefined) return;
  try {
    parseDuration(typeof value === 'number' && value >= 0 ? value * unit : value);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    const stop = error.message.indexOf('. ');
    report('FLOW_DURATION', node, { reason: error.message.slice(0, stop), hint: error.message.slice(stop + 2) });
  }
}

function literalOf(node: Argument): string | number | undefined {
  if (node?.type === 'UnaryExpression' && node.operator === '-') {
    const value = literalOf(node.argument);
    return typeof value === 'number' ? -value : undefined;
  }
  if (node?.type !== 'Literal') return undefined;
  return typeof node.value === 'string' || typeof node.value === 'number' ? node.value : undefined;
}

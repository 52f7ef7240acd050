// Every error code of the language in one table. A spec fails on a code that is used but not listed, or listed but not used.

import { type ErrorCode, RUN_ERRORS, THROWN_ERRORS } from './error-codes.js';
import type { Refusal } from './refusal.js';
import { REFUSED_CONSTRUCTS } from './refused-constructs.js';
import { REFUSED_NAMES } from './refused-names.js';
import { REFUSED_SYNTAX } from './refused-syntax.js';
import { REFUSED_TEXT } from './refused-text.js';
import { WARNINGS } from './warnings.js';

const refusals = { ...REFUSED_TEXT, ...REFUSED_CONSTRUCTS, ...REFUSED_SYNTAX, ...REFUSED_NAMES };

/** The code of a reason to refuse a source. */
export type RefusalCode = keyof typeof refusals;

/** The code of a warning. */
export type WarningCode = keyof typeof WARNINGS;

/** The code of anything that is found in a source. */
export type DiagnosticCode = RefusalCode | WarningCode;

/** Ends a run. */
export type RunErrorCode = keyof typeof RUN_ERRORS;

/** Every code. `FLOW_DURATION` is also thrown, as a `DurationError`. */
export type FlowCode = DiagnosticCode | RunErrorCode | keyof typeof THROWN_ERRORS;

/** Every reason to refuse a source, by code. */
export const REFUSALS: Readonly<Record<RefusalCode, Refusal>> = refusals;

/** Everything that is found in a source, by code. */
export const DIAGNOSTICS: Readonly<Record<DiagnosticCode, Refusal>> = { ...refusals, ...WARNINGS };

/** A source with a warning compiles, and one with any other diagnostic does not. */
export function isWarning(code: DiagnosticCode): code is WarningCode {
  return Object.hasOwn(WARNINGS, code);
}

/** Every code of the language: refusals and warnings of a source, errors that end a run, and errors that functions throw. */
export const FLOW_CODES: Readonly<Record<FlowCode, Refusal | ErrorCode>> = { ...DIAGNOSTICS, ...RUN_ERRORS, ...THROWN_ERRORS };

// Every error code of the language in one table. A spec fails on a code that is used but not listed, or listed but not used.

import { type ErrorCode, RUN_ERRORS, THROWN_ERRORS } from './error-codes.js';
import type { Refusal } from './refusal.js';
import { REFUSED_CONSTRUCTS } from './refused-constructs.js';
import { REFUSED_NAMES } from './refused-names.js';
import { REFUSED_SYNTAX } from './refused-syntax.js';
import { REFUSED_TEXT } from './refused-text.js';

const refusals = { ...REFUSED_TEXT, ...REFUSED_CONSTRUCTS, ...REFUSED_SYNTAX, ...REFUSED_NAMES };

/** The code of a reason to refuse a source. */
export type RefusalCode = keyof typeof refusals;

/** Ends a run. */
export type RunErrorCode = keyof typeof RUN_ERRORS;

/** Every code. `FLOW_DURATION` is also thrown, as a `DurationError`. */
export type FlowCode = RefusalCode | RunErrorCode | keyof typeof THROWN_ERRORS;

/** Every reason to refuse a source, by code. */
export const REFUSALS: Readonly<Record<RefusalCode, Refusal>> = refusals;

/** Every error code of the language: refusals of a source, errors that end a run, and errors that functions throw. */
export const FLOW_CODES: Readonly<Record<FlowCode, Refusal | ErrorCode>> = { ...refusals, ...RUN_ERRORS, ...THROWN_ERRORS };

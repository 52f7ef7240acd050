// Every error that the functions of the language throw.

import type { FlowCode } from './diagnostics/codes.js';
import { type Diagnostic, renderDiagnostic } from './diagnostics/diagnostic.js';

/** The base of every error that the language throws. */
export class FlowError extends Error {
  constructor(
    /** Stable, for machines; `FLOW_CODES` says what each means. */
    readonly code: FlowCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'FlowError';
  }
}

/** The source was refused; `diagnostics` says everything that is wrong with it, in source order. */
export class FlowSyntaxError extends FlowError {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    const more = diagnostics.length > 1 ? `${diagnostics.length} errors\n` : '';
    super('FLOW_SYNTAX', more + diagnostics.map(renderDiagnostic).join('\n'));
    this.name = 'FlowSyntaxError';
  }
}

/**
 * A stored snapshot (or program) cannot be used: `FLOW_SNAPSHOT` when it is damaged, `FLOW_OTHER_PROGRAM` when the snapshot
 * belongs to another program, `FLOW_NEWER_FORMAT` when a newer release of this package wrote it and can read it.
 */
export class FlowSnapshotError extends FlowError {
  declare readonly code: 'FLOW_SNAPSHOT' | 'FLOW_OTHER_PROGRAM' | 'FLOW_NEWER_FORMAT';

  constructor(message: string, { code = 'FLOW_SNAPSHOT', cause }: { code?: FlowSnapshotError['code']; cause?: unknown } = {}) {
    super(code, message, { cause });
    this.name = 'FlowSnapshotError';
  }
}

// The entry for tools: what it offers, and that a tool needs nothing else.

import { describe, expect, it } from '@jest/globals';
import { begin } from '../../test/support/flow-driver.js';
import * as flow from './entry.js';

describe('the entry point for tools', () => {
  it('exports the language and nothing of what runs it', () => {
    expect(Object.keys(flow).sort()).toEqual([
      'DEFAULT_LIMITS',
      'FLOW_CODES',
      'FlowError',
      'FlowSnapshotError',
      'FlowSyntaxError',
      'PROGRAM_VERSION',
      'SNAPSHOT_VERSION',
      'check',
      'compile',
      'describeSnapshot',
      'loadProgram',
      'namedCalls',
      'renderDiagnostic',
      'saveProgram',
      'snapshotHeader',
    ]);
  });

  it('gives an editor the range to underline', () => {
    const source = 'const total = 1\nreturn totl';
    const [diagnostic] = flow.check(source, { file: 'order.flow' });
    expect(diagnostic).toMatchObject({
      code: 'FLOW_UNDECLARED',
      severity: 'error',
      message: '"totl" is not declared',
      advice: 'Did you mean total?',
    });
    expect(source.slice(diagnostic.start, diagnostic.end)).toBe('totl');
    expect(flow.FLOW_CODES[diagnostic.code]).toHaveProperty('instead');
  });

  it('says where a stored run waits', () => {
    const program = flow.compile('const order = 7\nawait Signal.when("paid")\nreturn order', { file: 'order.flow' });
    const snapshot = begin(program).run.snapshot();
    expect(flow.snapshotHeader(snapshot)).toEqual({ format: flow.SNAPSHOT_VERSION, fingerprint: program.fingerprint });
    const [branch] = flow.describeSnapshot(flow.loadProgram(flow.saveProgram(program)), snapshot).branches;
    expect(branch).toMatchObject({ waitsFor: 'signal "paid"', stack: [{ file: 'order.flow', line: 2, locals: { order: 7 } }] });
  });
});

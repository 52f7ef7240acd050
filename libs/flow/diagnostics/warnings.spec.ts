// What is accepted with a warning, and how it is said that it is meant.

import { describe, expect, it } from '@jest/globals';
import { check, compile, type Diagnostic, FlowSyntaxError } from '../index.js';
import { WARNINGS } from './warnings.js';

const found = (source: string) => check(source).map(({ severity, code, line, column }) => `${severity} ${code} ${line}:${column}`);

describe('a warning', () => {
  it.each([
    ['Task.run("charge")', '1:1'],
    ['Workflow.run("ship", {}, { detached: false })', '1:1'],
    ['Signal.when("paid")', '1:1'],
    ['if (Inputs.a) Inputs.b && Task.run("charge")', '1:27'],
    ['Task.all([Task.run("a"), Task.run("b")])', '1:1'],
  ])('is given for a durable call that nobody waits for: %s', (source, at) => {
    expect(found(source)).toEqual([`warning FLOW_NOT_AWAITED ${at}`]);
    expect(() => compile(source)).not.toThrow();
  });

  it.each([
    'void Task.run("charge")',
    'const charge = Task.run("charge")\nawait charge',
    'return Task.run("charge")',
    'Workflow.run("ship", {}, { detached: true })',
    'Task.run("charge").catch(() => {})',
    '[1, 2].forEach((n) => Task.run("charge", n))',
    'const Job = { run() {} }\nJob.run()',
  ])('is not given for %s', (source) => {
    expect(found(source)).toEqual([]);
  });

  it('is passed to onWarning when a flow is compiled', () => {
    const warnings: Diagnostic[] = [];
    compile('Task.run("a")\nawait Task.run("b")\nTask.run("c")', { onWarning: (each) => warnings.push(each) });
    expect(warnings.map(({ line, code }) => `${line} ${code}`)).toEqual(['1 FLOW_NOT_AWAITED', '3 FLOW_NOT_AWAITED']);
  });

  it('is not among the errors of a source that is refused', () => {
    expect(found('Task.run("a")\nreturn totl')).toEqual(['warning FLOW_NOT_AWAITED 1:1', 'error FLOW_UNDECLARED 2:8']);
    try {
      compile('Task.run("a")\nreturn totl');
      throw new Error('It compiled.');
    } catch (error) {
      expect((error as FlowSyntaxError).diagnostics.map(({ code }) => code)).toEqual(['FLOW_UNDECLARED']);
      expect(error).toBeInstanceOf(FlowSyntaxError);
    }
  });

  it.each(Object.entries(WARNINGS))('%s has an example and a correction without it', (code, { example, instead }) => {
    expect(check(example).map((each) => each.code)).toEqual([code]);
    expect(check(instead)).toEqual([]);
  });
});

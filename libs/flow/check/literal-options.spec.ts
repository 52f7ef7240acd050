// A literal that must fail is refused when the source is compiled; what only might fail is not.

import { describe, expect, it } from '@jest/globals';
import { FlowSyntaxError } from '../errors.js';
import { compile } from '../index.js';

function faultsOf(source: string): string[] {
  try {
    compile(source);
    return [];
  } catch (error) {
    if (!(error instanceof FlowSyntaxError)) throw error;
    return error.diagnostics.map(({ line, column, message, advice }) => `${line}:${column} ${message}. ${advice}`);
  }
}

describe('a literal of a durable call', () => {
  it.each([
    ['await Task.run("a", {}, { retries: 3 })', /^1:27 Task.run has no option "retries"\. Did you mean retry\?/],
    ['await Workflow.run("a", {}, { "retry": 1 })', /^1:31 Workflow.run has no option "retry"\. Its options are queue, /],
    ['await Task.run("a", {}, { retry: { attempts: 3 } })', /the retry of Task.run has no option "attempts"/],
    ['await Task.run("a", {}, { ...Inputs, retry: { delay: "soon" } })', /"soon" is not a duration\. Write milliseconds/],
    ['await Signal.when("s", { timeout: -1 })', /-1 is a negative duration\. Give zero or more/],
    ['await Signal.next("s", { until: 1 })', /Signal.next has no option "until"/],
    ['await Timer.sleep("-5s")', /^1:19 the call would fail: "-5s" is not a duration/],
    ['await Timer["sleep"]("5 parsecs")', /"5 parsecs" is not a duration/],
    ['await Timer.delay(1e10)', /longer than 100 years/],
    ['if (Inputs.never) await sleep(-1)', /: -1 is a negative/],
    ['await Timer.sleep("5")', /"5" is not a duration: it has no unit\. Write milliseconds/],
  ])('that must fail is refused: %s', (source, message) => {
    expect(faultsOf(source)).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    'await Task.run("a", { retries: 3 }, { retry: { maxAttempts: 3, delay: "1s" }, timeout: "1h 30m", delay: 0 })',
    'await Task.run(...Inputs.list, { retries: 3 })',
    'await Task.run("a", {}, { ["re" + "try"]: {}, ...Inputs.options })',
    'await Timer.sleep(Inputs.time); await Timer.sleep(`-5s`.slice(1)); await Timer.sleep(new Date())',
    'await Inputs.Timer.sleep("-5s")',
  ])('that may succeed is accepted: %s', (source) => {
    expect(faultsOf(source)).toEqual([]);
  });

  it('is not checked when the file declares the name itself: the declaration is the error', () => {
    expect(faultsOf('const Timer = { sleep: (x) => x }; await Timer.sleep("-5s")')).toEqual([expect.stringContaining('built-in name')]);
  });
});

// What people read when a source has errors: messages, places, advice, and several errors at a time.

import { describe, expect, it } from '@jest/globals';
import { readSource } from '../check/index.js';
import { FlowSyntaxError } from '../errors.js';
import { type Diagnostic, diagnosticsOf, renderDiagnostic } from './diagnostic.js';

function diagnose(source: string): Diagnostic[] {
  return diagnosticsOf(source, 'order.flow', readSource(source).faults);
}

function brief(source: string): string[] {
  return diagnose(source).map(({ line, column, message }) => `${line}:${column} ${message}`);
}

describe('messages', () => {
  it.each([
    ['let a = (1 + )', '1:14 expected an expression, found `)`'],
    ['f(a b)', '1:5 expected `)` or `,`, found `b`'],
    ['let a = 1 2', '1:11 expected `,` or `;`, found `2`'],
    ['let 5 = 1', '1:5 expected a name, found `5`'],
    ['if a {}', '1:4 expected `(`, found `a`'],
    ['const x = { a: 1 b: 2 }', '1:18 expected `}` or `,`, found `b`'],
    ['a.5', '1:2 expected `,` or `;`, found `.5`'],
    ['let a = [1, 2', '1:9 this [ is not closed: expected `]` or `,`, found the end of the file'],
    ['function () {}', '1:10 expected a name, found `(`'],
    ['a = )', '1:5 expected an expression, found `)`'],
    ['x = a.', '1:7 expected a property name, found the end of the file'],
    ['for (let a of b c) {}', '1:17 expected `)`, found `c`'],
    ['try { a }', '1:10 expected catch or finally, found the end of the file'],
    ['return "abc', '1:8 the string does not end on its line'],
  ])('%s', (source, expected) => {
    expect(brief(source)).toEqual([expected]);
  });

  it('explain syntax that is common elsewhere', () => {
    expect(diagnose('let a: number = 1')[0].advice).toMatch(/no type annotations/);
    expect(diagnose('let a = 1\n--> the end\nlet b = a-->0').map(({ line, code }) => `${line} ${code}`)).toEqual(['2 FLOW_HTML_COMMENT']);
  });

  it('never show the state of the parser', () => {
    for (const source of ['let', '(', ')', '}', 'a b', '{ a:', 'for (', '=>', 'async x', '...']) {
      for (const message of brief(source)) expect(message).not.toMatch(/lblock|lobj|atom|binop|semi\b|asyncName|tpl|eof|%|→|undefined/);
    }
  });
});

describe('several errors', () => {
  it('are all reported, even after a broken statement', () => {
    const source = [
      'let a = (1 + );',
      'let b = 2',
      'var c = 3',
      'function f() {',
      '  let d = ;',
      '  return this',
      '}',
      'let e = f(1 2)',
      'class G {}',
    ].join('\n');
    expect(diagnose(source).map(({ line, code }) => `${line} ${code}`)).toEqual([
      '1 FLOW_UNEXPECTED',
      '3 FLOW_VAR',
      '5 FLOW_UNEXPECTED',
      '6 FLOW_THIS',
      '8 FLOW_UNEXPECTED',
      '9 FLOW_CLASS',
    ]);
  });

  it('do not spread from an unclosed call', () => {
    expect(diagnose('foo(1, 2\nlet a = 1\nlet b = 2').map(({ line }) => line)).toEqual([2]);
  });

  it('are limited in number', () => {
    const diagnostics = diagnose('let = 1;\n'.repeat(1_000));
    expect(diagnostics.length).toBeLessThan(60);
    expect(diagnostics.at(-1)?.code).toBe('FLOW_TOO_MANY');
  });
});

describe('a rendered diagnostic', () => {
  it('shows the line with a caret under the place', () => {
    const [diagnostic] = diagnose('let a = 1\nlet b = a +\n');
    expect(renderDiagnostic(diagnostic)).toContain('order.flow:3:1');
    const [second] = diagnose('let a = f(1 2)');
    expect(renderDiagnostic(second).split('\n').slice(0, 3)).toEqual([
      'order.flow:1:13 expected `)` or `,`, found `2` (FLOW_UNEXPECTED)',
      '  1 | let a = f(1 2)',
      '    |             ^',
    ]);
  });

  it('cuts long lines around the place', () => {
    const [diagnostic] = diagnose(`x = "${'a'.repeat(5_000)}" 2 + "${'b'.repeat(5_000)}"`);
    expect(diagnostic.column).toBe(5_008);
    expect(diagnostic.excerpt.length).toBeLessThanOrEqual(120);
    expect(diagnostic.excerpt[diagnostic.caret]).toBe('2');
  });

  it('is what a FlowSyntaxError prints for each of its diagnostics', () => {
    const diagnostics = diagnose('let a = ;\nlet b = ;');
    const error = new FlowSyntaxError(diagnostics);
    expect(error).toMatchObject({ name: 'FlowSyntaxError', code: 'FLOW_SYNTAX' });
    expect(error.message).toMatch(/^2 errors\n/);
    expect(error.message.match(/\^/g)).toHaveLength(2);
  });
});

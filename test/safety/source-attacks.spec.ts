// Sources written to mislead the reader or overload the parser: refused quickly and with a reason, no crash, no hang.

import { describe, expect, it } from '@jest/globals';
import { readSource } from '../../libs/flow/check/index.js';
import { type Diagnostic, diagnosticsOf } from '../../libs/flow/diagnostics/diagnostic.js';
import { parse } from '../../libs/flow/parse/index.js';

function diagnose(source: string): Diagnostic[] {
  return diagnosticsOf(source, 'attack.flow', readSource(source).faults);
}

function codes(source: string): string[] {
  return diagnose(source).map(({ code }) => code);
}

describe('size', () => {
  it('refuses a file of ten megabytes without reading it', () => {
    const began = performance.now();
    expect(codes('a = 1\n'.repeat(1_700_000))).toEqual(['FLOW_SOURCE_TOO_LONG']);
    expect(performance.now() - began).toBeLessThan(500);
  });

  it.each(['[', '(', '{', '`${', 'f(', '{a:', 'if(a){', '()=>{', '[[', 'x=[{a:('])(
    'refuses a hundred thousand nested %s at the limit, not at the end',
    (open) => {
      const began = performance.now();
      const found = diagnose(`x = ${open.repeat(100_000)}`);
      expect(found.length).toBeGreaterThan(0);
      expect(found[0].start).toBeLessThan(4_000);
      expect(performance.now() - began).toBeLessThan(2_000);
    },
  );

  it.each([
    ['members', (n: number) => `a${'.b'.repeat(n)}`],
    ['sums', (n: number) => `a${'+a'.repeat(n)}`],
    ['assignments', (n: number) => `${'a='.repeat(n)}1`],
    ['conditions', (n: number) => `${'a?b:'.repeat(n)}c`],
    ['arrows', (n: number) => `${'a=>'.repeat(n)}1`],
    ['signs', (n: number) => `${'- '.repeat(n)}a`],
    ['powers', (n: number) => `a${'**a'.repeat(n)}`],
    ['calls', (n: number) => `f${'()'.repeat(n)}`],
    ['ifs', (n: number) => `${'if(a)'.repeat(n)}b`],
    ['else ifs', (n: number) => `if(a){}${'else if(a){}'.repeat(n)}`],
    ['news', (n: number) => `${'new '.repeat(n)}Map`],
    ['labels', (n: number) => `${Array.from({ length: n }, (_, i) => `l${i}:`).join('')}a`],
  ])('refuses ten thousand %s that nest without brackets', (_, build) => {
    expect(codes(build(10_000))).toContain('FLOW_TOO_DEEP');
  });

  it('accepts what is within the limits', () => {
    expect(codes(`return ${'['.repeat(250)}${']'.repeat(250)}`)).toEqual([]);
    expect(codes(`return 1${' + 1'.repeat(500)}`)).toEqual([]);
  });

  it.each(['"', '`', '/*', '/', '#', ')', '}', 'class A {', 'async ', 'get ', '\\', '"\\', 'let = ;\n', 'import a\n', '<!--', '`${`'])(
    'ends on fifty thousand times %j',
    (piece) => {
      const began = performance.now();
      diagnose(piece.repeat(50_000));
      expect(performance.now() - began).toBeLessThan(5_000);
    },
  );

  it('takes time in proportion to the length of the source', () => {
    const line = 'const { a, b = 1 } = await Task.run("name", { id: Inputs.id, list: [1, 2, 3] })\n';
    const block = (count: number) => `{ ${line} }\n`.repeat(count);
    const time = (source: string): number => {
      const began = performance.now();
      expect(codes(source)).toEqual([]);
      return performance.now() - began;
    };
    time(block(500));
    const small = Math.min(time(block(500)), time(block(500)));
    const large = Math.min(time(block(4_000)), time(block(4_000)));
    // Eight times the text; a quadratic parser would need sixty-four times as long.
    expect(large).toBeLessThan(small * 30);
  });
});

describe('text that looks like other text', () => {
  it.each(['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069', '\u200e', '\u200f', '\u061c'])(
    'refuses the bidirectional control %j in strings, comments, templates and names',
    (char) => {
      for (const source of [`x = "${char}"`, `// ${char}\nx = 1`, `/* ${char} */`, `x = \`${char}\``, `x${char} = 1`]) {
        expect(codes(source)).toContain('FLOW_BIDI');
      }
    },
  );

  it('does not print the control characters that it reports', () => {
    const [{ message, advice }] = diagnose('if (access != "user\u202e \u2066// admin\u2069 \u2066") {}');
    expect(message + advice).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  it('accepts escapes of the same characters, which are visible', () => {
    expect(codes('return "\\u202e\\u{2066}"')).toEqual([]);
  });

  it('ends a line comment at every line terminator of JavaScript', () => {
    for (const end of ['\n', '\r', '\u2028', '\u2029']) expect(codes(`// comment${end}var x`)).toEqual(['FLOW_VAR']);
  });

  it('refuses invisible characters outside of strings', () => {
    for (const char of ['\u0000', '\u200b', '\u2060', '\u00ad', '\u0008']) expect(codes(`let a${char}b = 1`)).not.toEqual([]);
  });
});

describe('escapes', () => {
  it('recognises escaped names', () => {
    expect(codes('\\u0065val("1")')).toEqual(['FLOW_EVAL']);
    expect(codes('return \\u{61}rguments')).toEqual(['FLOW_ARGUMENTS']);
    expect(codes('\\u0073leep(5)')).toEqual(['FLOW_MISSING_AWAIT']);
    expect(codes('Timer.\\u0073leep(5)')).toEqual(['FLOW_MISSING_AWAIT']);
    expect(codes('return { \\u005f_proto__: x }')).toEqual(['FLOW_PROTO']);
    expect(codes('return { "\\x5f_proto__": x }')).toEqual(['FLOW_PROTO']);
  });

  it('refuses keywords that are written with escapes', () => {
    for (const source of ['v\\u0061r a = 1', 'l\\u0065t a = 1', 'cl\\u0061ss A {}', 'th\\u0069s.a', '\\u0069f (a) b', 'n\\u0065w Map']) {
      expect(codes(source)).toContain('FLOW_ESCAPED_KEYWORD');
    }
  });

  it('gives no meaning to contextual words that are written with escapes', () => {
    expect(codes('\\u0061sync function f() {}')).not.toEqual([]);
    expect(codes('for (const a \\u006ff b) {}')).not.toEqual([]);
  });

  it('refuses escapes that are not valid in names', () => {
    for (const source of ['\\u0030a = 1', 'a\\u002db = 1', 'a\\u{110000} = 1', '\\u{D800} = 1', '\\u12 = 1', '\\x61 = 1']) {
      expect(codes(source)).not.toEqual([]);
    }
  });

  it('refuses octals and broken escapes in strings and templates', () => {
    for (const text of ['\\1', '\\01', '\\8', '\\08', '\\x1', '\\u12', '\\u{}', '\\u{110000}', '\\u{12']) {
      expect(codes(`return "${text}"`)).not.toEqual([]);
      expect(codes(`return \`${text}\``)).not.toEqual([]);
    }
  });

  it('keeps lone surrogates and NUL as data', () => {
    const { ast } = parse('return "\\ud800\\0\\udc00"');
    expect(ast?.body[0]).toMatchObject({ argument: { value: '\ud800\0\udc00' } });
  });
});

describe('the way to the host', () => {
  it.each([
    ['return this', 'FLOW_THIS'],
    ['return (() => this)()', 'FLOW_THIS'],
    ['return new Function("return 1")()', 'FLOW_NEW'],
    ['return new (a.constructor)("b")', 'FLOW_NEW'],
    ['return import("fs")', 'FLOW_IMPORT'],
    ['return import.meta.url', 'FLOW_IMPORT'],
    ['return eval("1")', 'FLOW_EVAL'],
    ['function f() { return arguments.callee }', 'FLOW_ARGUMENTS'],
    ['return { __proto__: null }', 'FLOW_PROTO'],
    ['return { "__proto__": null }', 'FLOW_PROTO'],
    ['function f() { return new.target }', 'FLOW_NEW_TARGET'],
    ['return { get a() { return 1 } }', 'FLOW_ACCESSOR'],
    ['class A extends B {}', 'FLOW_CLASS'],
    ['return super.a', 'FLOW_THIS'],
    ['with (a) { b }', 'FLOW_WITH'],
    ['return /(a+)+$/.test(b)', 'FLOW_REGEX'],
    ['return tag`a`', 'FLOW_TAGGED_TEMPLATE'],
  ])('is refused in %s', (source, code) => {
    expect(codes(source)).toContain(code);
  });
});

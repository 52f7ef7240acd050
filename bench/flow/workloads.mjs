// The small programs every engine runs; `let`/`const` become `var` for the interpreter that supports only ES5.

export const workloads = {
  loop: { n: 300_000, source: (n) => `let s = 0; for (let i = 0; i < ${n}; i++) { s = (s + i * 3) % 1000003 } result(s)` },
  call: {
    n: 25,
    source: (n) => `function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } result(fib(${n}))`,
  },
  property: {
    n: 200_000,
    source: (n) =>
      `const o = { a: 1, b: { c: 2 }, list: [1, 2, 3] }; for (let i = 0; i < ${n}; i++) { o.a = o.a + o.b.c; o.list[i % 3] = o.a; o.b.c = o.list.length } result(o.a)`,
  },
  string: {
    n: 60_000,
    source: (n) =>
      `let s = ''; let hits = 0; for (let i = 0; i < ${n}; i++) { s = s + 'ab' + i; if (s.charAt(i % 7) === 'a') hits = hits + 1; if (s.length > 500) s = s.slice(400) } result(hits + s.length)`,
  },
};

/** A program in the dialect of Flow, QuickJS or an ES5 interpreter. */
export function programOf(name, dialect) {
  const { n, source } = workloads[name];
  const program = source(n);
  if (dialect === 'flow') return program.replace(/result\((.*)\)$/s, 'return $1');
  if (dialect === 'es5') return program.replace(/\b(let|const) /g, 'var ').replace(/result\((.*)\)$/s, '$1');
  return program.replace(/result\((.*)\)$/s, '$1');
}

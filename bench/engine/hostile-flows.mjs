// The flows of `npm run bench:attacks`: each tries to take a worker from the runs beside it.

const LONG = 'f'.repeat(300_000);

export const HOSTILE = {
  'an endless loop': 'for (;;) {}',
  'l.push({ 1000: 1 }) forever': 'const l = []; for (;;) l.push({ 1000: 1 })',
  'normalize of 200,000 combining characters': 'return ("a" + "\\u0301".repeat(1e5) + "\\u0316".repeat(1e5)).normalize("NFD").length',
  'e.stack of a function with a very long name': `const ${LONG} = (n) => (n > 0 ? ${LONG}(n - 1) : new Error("x")); const l = []; for (let i = 0; i < 2000; i++) l.push(${LONG}(20).stack); return l.length`,
  '(2 ** 1023).toString(2) forever': 'const l = []; for (;;) l.push((2 ** 1023).toString(2))',
  'Date.toString() forever': 'const l = []; const d = new Date(0); for (;;) l.push(d.toString())',
  'JSON.stringify of 60 levels of [a, a]': 'let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return JSON.stringify(a).length',
  '%j of 60 levels of [a, a]': 'let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; console.log("%j", a)',
  'Object.groupBy of 500,000': 'return Object.groupBy(Array(5e5).fill(0), (x) => x)[0].length',
  'spread of 100,000 keys, in a loop': 'const o = {}; for (let i = 0; i < 9e4; i++) o["k" + i] = i; for (;;) ({ ...o })',
  'structuredClone of 300,000':
    'const a = []; for (let i = 0; i < 3e5; i++) a.push(i); let n = 0; for (let i = 0; i < 9; i++) n += structuredClone(a).length; return n',
  'Object.keys of sparse integers': 'const o = {}; for (let i = 0; i < 9e4; i++) o[i * 20011] = i; for (;;) Object.keys(o)',
  'flat(Infinity)': 'let a = [1]; for (let i = 0; i < 19; i++) a = [a, a]; return a.flat(Infinity).length',
  'for…in and break, in a loop': 'const a = Array(3e5).fill(0); for (;;) for (const k in a) break',
  'a chain of 100,000 follows':
    'let p = Promise.resolve(1); for (let i = 0; i < 1e5; i++) { const q = p; p = new Promise((r) => r(q)) } return await p',
  'a million tasks that are not awaited': 'for (let i = 0; i < 1e6; i++) Task.run("echo")',
  'an inconsistent comparison': 'const a = Array.from({ length: 2e5 }, (_, i) => i); for (;;) a.sort(() => 1 - 2 * Math.random())',
  '100,000 levels of [a], and an await': 'let a = 1; for (let i = 0; i < 1e5; i++) a = [a]; await Timer.sleep(1); return 1',
  'ten million pushes': 'const a = []; for (let i = 0; i < 1e7; i++) a.push(a); return a.length',
  'pushing to an array while it is iterated': 'const a = [1]; for (const e of a) a.push(e)',
  '50 MB of inputs in one turn': 'const s = "x".repeat(1e6); for (let i = 0; i < 50; i++) Task.run("echo", s); await Timer.sleep(1)',
  'a burst of work before each of many awaits': 'for (let n = 0; n < 200; n++) { for (let i = 0; i < 3e4; i++) {} await Task.run("echo") }',
};

/** What runs beside them. */
export const NEIGHBOUR = 'const a = await Task.run("echo", Inputs); return await Task.run("echo", a)';

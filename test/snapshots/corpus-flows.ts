// The flows whose snapshots are kept forever: together they contain every kind of value and every instruction at an await.
import type { FlowEvent } from '../../libs/flow/index.js';

export interface CorpusFlow {
  readonly name: string;
  readonly source: string;
  readonly inputs?: unknown;
  /** Turns before the snapshot is taken. */
  readonly before?: readonly (readonly FlowEvent[])[];
  /** Turns after it was restored, to the end. */
  readonly after: readonly (readonly FlowEvent[])[];
}

const done = (id: number, value?: unknown): FlowEvent => ({
  kind: 'completed',
  id,
  ...(value === undefined ? {} : { value: JSON.stringify(value) }),
});

export const CORPUS_FLOWS: readonly CorpusFlow[] = [
  {
    name: 'values',
    source: `const text = 'a\\0b\\ud800"\\n'; const numbers = [NaN, -0, Infinity, -Infinity, 1.5, 2 ** 53, -7]
const list = [1, , undefined, null, true, false]; list.extra = 'own'
const date = new Date(86400000); const never = new Date(NaN)
const map = new Map([['k', new Set([1, 'two'])], [date, list]]); map.delete('gone')
const frozen = Object.freeze({ deep: { a: { b: { c: [1, [2, [3]]] } } } })
const evil = JSON.parse('{"__proto__":1,"constructor":2,"then":3,"2":"x","1":"y"}')
await Task.run('t')
return [text, numbers.map((n) => Object.is(n, -0) ? '-0' : String(n)), list.length, 1 in list, list.extra, date.toISOString(), String(never),
  [...map.get('k')], map.get(date) === list, Object.isFrozen(frozen), frozen, Object.keys(evil), evil]`,
    after: [[done(1)]],
  },
  {
    name: 'shared-and-cyclic',
    source: `const a = { name: 'a' }; const b = { a, again: a }; a.b = b; const ring = [a]; ring.push(ring)
const both = new Map([[a, b], [b, a]]); const e = new Error('with a', { cause: a }); e.code = 'E1'
let deep = null; for (let i = 0; i < 100; i++) deep = { deep, i }
await Signal.when('go')
a.name = 'changed'
let depth = 0; for (let d = deep; d; d = d.deep) depth++
return [b.a.name, b.again === b.a, ring[1] === ring, both.get(a) === b, both.get(b) === a, e.cause === a, e.code, e instanceof Error, depth]`,
    after: [[{ kind: 'signal', key: 'k', name: 'go' }]],
  },
  {
    name: 'closures-and-functions',
    source: `let n = 0; const add = (by = 1) => (n += by); const counters = []
for (let i = 0; i < 3; i++) counters.push(() => { n += i; return i })
const make = function self(k) { return k === 0 ? [] : [k, ...self(k - 1)] }
const method = { double(x) { return x * 2 }, ['comp' + 'uted']: (...rest) => rest.length }; const max = Math.max; const keys = Object.keys
make.tag = { on: 'function' }
await Task.run('t')
add(); add(5); counters.forEach((c) => c())
return [n, counters.map((c) => c()), make(3), method.double(4), method.computed(1, 2, 3), max(1, 2), keys(method), make.tag, add.name, make.name, add.length]`,
    after: [[done(1)]],
  },
  {
    name: 'control-flow',
    source: `const seen = []; const obj = { x: 1, y: 2, z: 3 }
outer: for (const key in obj) {
  switch (key) { case 'y': { seen.push('skip'); continue outer } default: seen.push(key) }
  for (const [k, v] of new Map([['m', 1], ['n', 2]])) {
    try { seen.push(await Task.run(key + k, v)); if (v === 2) continue outer } catch (e) { seen.push(e.name + e.cause.message) } finally { seen.push('f'); await Timer.sleep(1) }
  }
}
let i = 0; do { i++ } while (i < 3)
const f = async () => { try { return await Task.run('r') } finally { await Timer.sleep(2) } }
seen.push(await f(), i); return seen`,
    before: [[done(1, 'one')]],
    after: [
      [{ kind: 'timer', id: 2 }],
      [{ kind: 'failed', id: 3, error: { name: 'Boom', message: '!', code: 'E_BOOM' } }],
      [{ kind: 'timer', id: 4 }],
      [done(5, 'five')],
      [{ kind: 'timer', id: 6 }],
      [done(7, 'seven')],
      [{ kind: 'timer', id: 8 }],
      [done(9, 'nine')],
      [{ kind: 'timer', id: 10 }],
    ],
  },
  {
    name: 'branches-and-promises',
    source: `const log = []; const work = async (n) => { const r = await Task.run('w' + n); log.push(n); return r * 10 }
const all = Promise.all([work(1), work(2)]); const settled = Promise.allSettled([Task.run('s'), Promise.reject(new TypeError('no'))])
const any = Promise.any([Task.run('bad'), Task.run('good')]); const race = Promise.race([Timer.sleep('1h'), Signal.when('stop', { timeout: '2h' })])
const { promise, resolve, reject } = Promise.withResolvers(); const chained = promise.then((x) => x + 1, (e) => e).finally(() => log.push('finally'))
const failed = Promise.reject(new RangeError('late')); failed.catch(() => 1); const made = new Promise((ok) => ok(5))
Task.run('forgotten')
await Signal.when('begin')
resolve(await made)
return [await all, (await settled).map((s) => s.status), await any, await race, await chained, log, await failed.catch((e) => e.message), typeof reject]`,
    after: [
      [{ kind: 'signal', key: 'a', name: 'begin' }],
      [done(2, 2), done(1, 1)],
      [done(3, 's'), { kind: 'failed', id: 4, error: { name: 'Error', message: 'x' } }, done(5, 'good')],
      [{ kind: 'signal', key: 'b', name: 'stop', payload: '"stopped"' }],
    ],
  },
  {
    name: 'iterators-and-destructuring',
    source: `const list = [1, 2, 3, 4, 5]; const it = list.values(); it.next(); const map = new Map([['a', 1], ['b', 2], ['c', 3], ['d', 4]]); const entries = map.entries(); entries.next(); map.delete('b')
const letters = 'x😀y'; const set = new Set([9, 8, 7]).values(); const done = [].values(); done.next()
const { a = await Task.run('default'), ...rest } = { b: 2, c: 3 }; const [first, , third = 3, ...others] = list
let [p, q] = [1, 2]; [p, q] = [q, p]; ({ p, ['q']: q = 4 } = { p: 9 })
return [a, rest, first, third, others, p, q, [...it], [...entries], [...letters].length, [...set], done.next().done]`,
    after: [[done(1, 'given')]],
  },
  {
    name: 'operators',
    source: `const o = { n: 5, s: 'x', list: [1, 2], u: undefined, nested: { f: (x) => x } }; let x = 7; let y
const r = [x + 1, x - 1, x * 2, x / 2, x % 4, x ** 2, x & 3, x | 8, x ^ 1, x << 1, x >> 1, -x >>> 28, ~x, -x, +'3', !x, typeof x, void 0 === undefined, x == '7', x != 8, x === 7, x !== 7, x < 8, x <= 7, x > 8, x >= 7, 'n' in o, [] instanceof Array]
x++; --x; x += 2; x **= 2; o.n++; o['s'] += 'y'; y ??= 'set'; y &&= 'and'; o.z ||= 'or'; delete o.u; delete o['list'][0]
const opt = [o?.nested?.f?.(1), o.nope?.f(), o?.['s'], (await Task.run('mid')) ?? 'none', x > 1 ? 'yes' : 'no', (1, 2), \`\${x}-\${o.s}\`]
const spread = Math.max(...[1, 2], 3); const made = new Map([...[[1, 2]]]); const obj = { ...o, n: 0, [\`k\${x}\`]: 1 }; const args = [...'ab', ...[1]]
const swap = await Task.run('last', [x]); const u = ((a, b = a + 1, ...c) => [a, b, c])(1, undefined, 3, 4); let z = '5'; z++; let w = '6'; w--
return [r, x, y, o.z, o.s, opt, spread, made.get(1), Object.keys(obj), args, swap, u, z, w, 1 in o.list, new Date(...[0]).getTime()]`,
    before: [[done(1, null)]],
    after: [[done(2, 'swapped')]],
  },
  {
    name: 'workflow-form',
    source: `const FEE = 2
async function pay(amount, { retries = 1, ...options } = {}) {
  for (let i = 0; i <= retries; i++) { try { return await Task.run('pay', { amount: amount + FEE, ...options }) } catch (e) { if (i === retries) throw new Error('gave up', { cause: e }) } }
}
workflow(ctx, inputs) {
  const [a, b] = await Promise.all(inputs.amounts.map((each) => pay(each, { tag: ctx.executionId })))
  const answer = await Promise.race([Signal.when('approve'), Timer.sleep('24h').then(() => 'timeout')])
  return { a, b, answer, tags: ctx.tags, Inputs }
}`,
    inputs: { amounts: [10, 20] },
    before: [[{ kind: 'failed', id: 1, error: { name: 'CardError', message: 'declined' } }, done(2, 'paid 22')]],
    after: [[done(3, 'paid 12')], [{ kind: 'timer', id: 5 }]],
  },
  {
    name: 'failing',
    source: `const first = new TypeError('first'); const failing = async () => { await Task.run('t'); null.x }
try { await failing() } catch (e) { const seen = [e.name, e.stack.split('\\n').length > 1]; await Timer.sleep('1s'); throw new AggregateError([first, e], 'both', { cause: seen }) }`,
    before: [[done(1)]],
    after: [[{ kind: 'timer', id: 2 }]],
  },
  {
    name: 'cancelled',
    source: `const undo = []; try { undo.push(await Task.run('book')); await Timer.sleep('7d') } catch (e) { for (const each of undo.reverse()) await Task.run('undo', each); return [e.name, e.message] } finally { await Task.run('audit') }`,
    before: [[done(1, 'seat')]],
    after: [[{ kind: 'cancel', reason: 'changed my mind' }], [done(3)], [done(4)]],
  },
  {
    name: 'rare-instructions',
    source: `const outcomes = []; const attempt = (f) => { try { outcomes.push(f()) } catch (e) { outcomes.push(e.name) } }
const early = () => late; attempt(early); let late = 'now'; attempt(early)
switch (1) { case 0: let inner; case 1: try { outcomes.push(inner) } catch (e) { outcomes.push(e.name) } try { inner = 1 } catch (e) { outcomes.push(e.name) } }
const boxed = (x) => () => x++; const box = boxed(1); const spread = (...all) => all.length; const o = { f: (x) => x, n: 3 }
const follow = (async () => Timer.sleep('1h').then(() => 'followed'))()
let i = 5; do { i-- } while (i > 2); const before = i--; const key = 'f'; o.n--; const post = o['n']--
const answer = await Task.run('t')
outcomes.push(box(), box(), spread(...[1, 2, 3]), o[key](7), o?.[key]?.(8), before, i, post, o.n)
if (i >= 1) outcomes.push('ge'); if (i !== 2) outcomes.push('ne'); while (!(i > 3)) i++
return [outcomes, answer, i, await follow, late || 'never']`,
    after: [[done(2, 'answered')], [{ kind: 'timer', id: 1 }]],
  },
  {
    name: 'names-its-program',
    source: `let sum = 0; const seen = new Set()
for (const n of [1, 2, 3]) { const more = await Task.run('t', n); sum += more; seen.add(n) }
return [sum, [...seen]]`,
    before: [[done(1, 10)]],
    after: [[done(2, 20)], [done(3, 30)]],
  },
];

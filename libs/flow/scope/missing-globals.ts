// Advice for global names of JavaScript and Node that people write and Flow does not have.

/** What to write instead, by the name that is missing. */
export const ADVICE_FOR_GLOBAL: ReadonlyMap<string, string> = new Map([
  ['setTimeout', 'Write await Timer.sleep("5s"): it survives restarts.'],
  ['setInterval', 'Write a loop with await Timer.sleep("5s") in it.'],
  ['fetch', 'A flow does no I/O: call it in a task and write await Task.run("name", input).'],
  ['require', 'A flow imports nothing: put the code in a task and write await Task.run("name", input).'],
  ['process', 'A flow has no access to the host: pass what it needs as Inputs.'],
  ['Buffer', 'A flow has no access to the host: convert bytes in a task.'],
  ['globalThis', 'There is no global object: use the names themselves.'],
  ['window', 'There is no global object: use the names themselves.'],
  ['queueMicrotask', 'Write Promise.resolve().then(fn).'],
  ['Symbol', 'Symbols are not supported: use string keys.'],
  ['BigInt', 'BigInt is not supported: use numbers, or strings for long ids.'],
  ['RegExp', 'Regular expressions are not supported: use string methods.'],
  ['WeakMap', 'Use Map: the heap of a flow is stored, so nothing in it is weak.'],
  ['WeakSet', 'Use Set: the heap of a flow is stored, so nothing in it is weak.'],
  ['Proxy', 'Proxies are not supported: write a function.'],
  ['Reflect', 'Use the functions of Object.'],
  ['Intl', 'Locale-dependent formatting is not supported: do it in a task.'],
]);

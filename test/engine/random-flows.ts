// Random workflows whose results do not depend on time, so that two ways of running them can be compared.

import fc from 'fast-check';

/** A generated workflow with its child workflows. */
export interface RandomFlow {
  source: string;
  /** The sources of the workflows that it calls, by name. */
  children: ReadonlyMap<string, string>;
  /** Its calls have the same numbers in every run. */
  isNumbered: boolean;
  /** One thing after the other: everything in its history has one order. */
  isSequential: boolean;
}

/** A value as source text: those that PostgreSQL cannot read, and those that are too large for a step in place, are among them. */
const VALUE: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('1', '"text"', 'null', '{ a: [1, { b: "ä€" }] }', '-0', '""', 'undefined') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '"a\\u0000b"',
      '"\\ud800 alone"',
      '{ k: "\\udfff\\u0000" }',
      '"\\\\u0000"',
      '"quotes \\" and \\n lines \\u001f"',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('"x".repeat(1500)', '"y".repeat(3000)', '"z".repeat(20000)') },
);
const OPTIONS: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constant('') },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ', { priority: 3 }',
      ', { priority: -2 }',
      ", { queue: 'other' }",
      ", { idempotencyKey: 'a key', priority: 1 }",
      ", { timeout: '20s' }",
      ', { delay: 2 }',
      ", { retry: { maxAttempts: 2, backoff: 'exponential' } }",
    ),
  },
);
/** Calls of tasks that complete, as functions of their label. */
const CALL: fc.Arbitrary<(label: number) => string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(VALUE, OPTIONS).map(
      ([v, options]) =>
        (l: number) =>
          `Task.run('echo', { l: ${l}, v: ${v} }${options})`,
    ),
  },
  { weight: 3, arbitrary: OPTIONS.map((options) => (l: number) => `Task.run('quick', { l: ${l} }${options})`) },
  { weight: 3, arbitrary: fc.nat(4).map((ms) => (l: number) => `Task.run('wait', { l: ${l}, ms: ${ms} })`) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.constantFrom(0, 3)).map(
      ([times, delay]) =>
        (l: number) =>
          `Task.run('flaky', { l: ${l}, times: ${times} }, { retry: { maxAttempts: 3, delay: ${delay} } })`,
    ),
  },
  { weight: 2, arbitrary: fc.boolean().map((late) => (l: number) => `Task.run('report', { l: ${l}, late: ${late} })`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('at once', 'afterwards').map((when) => (l: number) => `Task.run('later', { l: ${l}, when: '${when}' })`),
  },
  { weight: 1, arbitrary: fc.constant((l: number) => `Task.run('declared', { l: ${l} })`) },
);

type Block =
  | { kind: 'call'; call: (label: number) => string }
  | { kind: 'loop'; call: (label: number) => string; times: number }
  | { kind: 'group'; how: 'Promise.all' | 'Task.all' | 'nested' | 'backwards'; calls: ((label: number) => string)[] }
  | { kind: 'mixed'; how: 'all' | 'allSettled' | 'any'; calls: ((label: number) => string)[]; fails: number }
  | { kind: 'plain'; text: string }
  | {
      kind: 'labelled';
      which: 'fails' | 'forget' | 'race' | 'cancel' | 'cancel-self' | 'pause-self' | 'pause-run' | 'signal' | 'signal-first' | 'timer';
    }
  | { kind: 'child'; body: Block[]; fails: boolean }
  | { kind: 'branches'; branches: Block[][] };

const CALLS = fc.array(CALL, { minLength: 1, maxLength: 5 });
const LEAF: fc.Arbitrary<Block> = fc.oneof(
  { weight: 10, arbitrary: CALL.map((call): Block => ({ kind: 'call', call })) },
  { weight: 3, arbitrary: fc.tuple(CALL, fc.integer({ min: 2, max: 4 })).map(([call, times]): Block => ({ kind: 'loop', call, times })) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('Promise.all' as const, 'Task.all' as const, 'nested' as const, 'backwards' as const), CALLS)
      .map(([how, calls]): Block => ({ kind: 'group', how, calls })),
  },
  // More than a run may have in place.
  {
    weight: 1,
    arbitrary: CALL.map((call): Block => ({ kind: 'group', how: 'Promise.all', calls: Array.from({ length: 18 }, () => call) })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('all' as const, 'allSettled' as const, 'any' as const), CALLS, fc.nat(4))
      .map(([how, calls, place]): Block => ({ kind: 'mixed', how, calls, fails: place % (calls.length + 1) })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        'await Timer.sleep(2);',
        "try { await Signal.when('never', { timeout: 3 }); } catch (e) { log.push(e.name); }",
        "console.log('a line', log.length);",
        "log.push(await Signal.when('outer', { timeout: '20s' }));",
      )
      .map((text): Block => ({ kind: 'plain', text })),
  },
  {
    weight: 8,
    arbitrary: fc
      .constantFrom('fails', 'forget', 'race', 'cancel', 'cancel-self', 'pause-self', 'pause-run', 'signal', 'signal-first', 'timer')
      .map((which): Block => ({ kind: 'labelled', which }) as Block),
  },
);
const BODY = fc.array(LEAF, { minLength: 1, maxLength: 3 });
const BLOCK: fc.Arbitrary<Block> = fc.oneof(
  { weight: 9, arbitrary: LEAF },
  { weight: 1, arbitrary: fc.tuple(BODY, fc.boolean()).map(([body, fails]): Block => ({ kind: 'child', body, fails })) },
  { weight: 1, arbitrary: fc.array(BODY, { minLength: 2, maxLength: 3 }).map((branches): Block => ({ kind: 'branches', branches })) },
);

/** Random workflows. The number makes the names of their child workflows unique. */
export const RANDOM_FLOW: fc.Arbitrary<(n: number) => RandomFlow> = fc
  .tuple(fc.array(BLOCK, { minLength: 1, maxLength: 6 }), fc.constantFrom('returns', 'returns', 'returns', 'throws', 'is cancelled'))
  .map(
    ([blocks, end]) =>
      (n) =>
        new Writer(n).write(blocks, end),
  );

class Writer {
  private label = 0;
  private readonly children = new Map<string, string>();
  private isNumbered = true;
  private isSequential = true;

  constructor(private readonly n: number) {}

  write(blocks: readonly Block[], end: string): RandomFlow {
    // What is not awaited may end before the cancel or after it.
    const kept = end === 'is cancelled' ? blocks.filter((block) => !isUnawaited(block)) : blocks;
    const body = this.body(kept);
    const ending =
      end === 'returns'
        ? 'return log;'
        : end === 'throws'
          ? // What a failing turn reads is not noted, and what arrives with the last result of a block depends on time.
            `await Task.run('quick', { l: ${this.next()} });\nthrow new Error('the end of ' + log.length);`
          : `try { await Task.run('cancel-run', { l: ${this.next()} }); } finally { await Task.run('quick', { l: ${this.next()} }); }`;
    const { children, isNumbered, isSequential } = this;
    return { source: `let log = [];\n${body}\n${ending}`, children, isNumbered, isSequential };
  }

  private body(blocks: readonly Block[]): string {
    return blocks.map((block) => this.block(block)).join('\n');
  }

  private next(): number {
    return ++this.label;
  }

  private block(block: Block): string {
    if (block.kind === 'plain') return block.text;
    if (block.kind === 'call') return `log.push(await ${block.call(this.next())});`;
    if (block.kind === 'loop') {
      const label = this.next();
      this.label += block.times;
      return `for (let i = 0; i < ${block.times}; i++) log.push(await ${block.call(label).replace(`l: ${label}`, `l: ${label} + i`)});`;
    }
    if (block.kind === 'labelled') return this.labelled(block.which);
    if (block.kind === 'child') return this.child(block.body, block.fails);
    this.isSequential = false;
    if (block.kind === 'group')
      return this.group(
        block.how,
        block.calls.map((call) => call(this.next())),
      );
    if (block.kind === 'mixed')
      return this.mixed(
        block.how,
        block.calls.map((call) => call(this.next())),
        block.fails,
      );
    // Which branch calls next depends on time.
    this.isNumbered = false;
    return `log.push(await Promise.all([${block.branches.map((body) => `(async () => {\nlet log = [];\n${this.body(body)}\nreturn log; })()`)}]));`;
  }

  private group(how: Extract<Block, { kind: 'group' }>['how'], calls: readonly string[]): string {
    if (how === 'nested') return `log.push(await Promise.all([${calls[0]}, Promise.all([${calls.slice(1)}])]));`;
    if (how === 'backwards') return `{ let calls = [${calls}]; while (calls.length > 0) log.push(await calls.pop()); }`;
    return `log.push(await ${how}([${calls}]));`;
  }

  private mixed(how: Extract<Block, { kind: 'mixed' }>['how'], calls: readonly string[], place: number): string {
    const failing = `Task.run('fails', { l: ${this.next()} })`;
    if (how === 'any') return `log.push(await Promise.any([${failing}, ${calls[0]}]));`;
    const all = [...calls.slice(0, place), failing, ...calls.slice(place)];
    if (how === 'all') return `try { await Promise.all([${all}]); } catch (e) { log.push(e.message); }`;
    return `log.push((await Promise.allSettled([${all}])).map((s) => s.status === 'fulfilled' ? s.value : s.reason.message));`;
  }

  private labelled(which: Extract<Block, { kind: 'labelled' }>['which']): string {
    const l = this.next();
    switch (which) {
      case 'fails':
        return `try { await Task.run('fails', { l: ${l} }, { retry: { maxAttempts: 2, delay: 0 } }); } catch (e) { log.push([e.name, e.code, e.message]); }`;
      case 'cancel-self':
        return `try { await Task.run('cancel-self', { l: ${l} }); } catch (e) { log.push([e.name, e.code]); }`;
      case 'pause-self':
        return `log.push(await Task.run('pause-self', { l: ${l} }));`;
      case 'pause-run':
        // Two branches that pause at one time pause the run once or twice.
        return `log.push(await Task.run('${this.isNumbered ? which : 'quick'}', { l: ${l} }));`;
      case 'signal-first':
        return `{ await Task.run('signal', { l: ${l}, name: 's${l}' }); log.push(await Signal.when('s${l}')); }`;
    }
    this.isSequential = false;
    switch (which) {
      case 'forget':
        return `Task.run('wait', { l: ${l}, ms: 2 });`;
      case 'race':
        return `{ let slow = Task.run('hold', { l: ${l} }); log.push(await Promise.race([slow, Task.run('quick', { l: ${this.next()} })])); slow.cancel(); log.push((await Promise.allSettled([slow]))[0].reason.code); }`;
      case 'cancel':
        return `{ let slow = Task.run('hold', { l: ${l} }); log.push(await Task.run('wait', { l: ${this.next()}, ms: 3 })); slow.cancel(); try { await slow; } catch (e) { log.push(e.code); } }`;
      case 'signal':
        return `{ let said = Signal.when('s${l}'); await Task.run('signal', { l: ${l}, name: 's${l}' }); log.push(await said); }`;
      default:
        return `log.push((await Promise.all([Timer.sleep(3), Task.run('wait', { l: ${l}, ms: 2 })])).length);`;
    }
  }

  private child(body: readonly Block[], fails: boolean): string {
    const name = `child-${this.n}-${this.children.size}`;
    const l = this.next();
    const text = this.body(
      body.filter((block) => !(fails && isUnawaited(block)) && !(block.kind === 'plain' && block.text.includes("'outer'"))),
    );
    this.children.set(
      name,
      `let log = [];\n${text}\n${fails ? `await Task.run('quick', { l: ${this.next()} });\nthrow new Error('child');` : 'return log;'}`,
    );
    return `try { log.push(await Workflow.run('${name}', { l: ${l} })); } catch (e) { log.push([e.name, e.message]); }`;
  }
}

function isUnawaited(block: Block): boolean {
  if (block.kind === 'branches') return block.branches.some((body) => body.some(isUnawaited));
  if (block.kind === 'child') return block.body.some(isUnawaited);
  // Of those that fail or win early, the others are not awaited.
  return (block.kind === 'labelled' && block.which === 'forget') || (block.kind === 'mixed' && block.how !== 'allSettled');
}

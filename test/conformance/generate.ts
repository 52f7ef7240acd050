// Writes random programs: closures, aliases, cycles, concurrent branches, awaits in loops, in finally and in expressions, destructuring.
// A program is made from a tape of numbers; where the tape ends every choice is the simplest one, so a shorter tape is a smaller program.

/** Names in scope by what they hold. */
interface Scope {
  numbers: string[];
  objects: string[];
  arrays: string[];
  functions: string[];
}

/** Where a statement is, and what it may do there. */
interface Place {
  scope: Scope;
  isAsync: boolean;
  /** Labels of the enclosing loops, innermost last; empty inside a nested function. */
  loops: string[];
  depth: number;
}

const DEEPEST = 4;

export function programFrom(tape: readonly number[]): string {
  return new Writer(tape).program();
}

class Writer {
  private at = 0;
  private names = 0;
  constructor(private readonly tape: readonly number[]) {}

  program(): string {
    const scope: Scope = { numbers: ['n0'], objects: ['o0'], arrays: ['a0'], functions: ['f0'] };
    const body = this.block({ scope, isAsync: true, loops: [], depth: 0 }, 4 + this.pick(8));
    return [
      'const out = [], branches = [];',
      "const told = (e) => (e.message.startsWith('m:') ? e.message : e.name);",
      'let n0 = 1, o0 = { a: 1, b: 2 }, a0 = [1, 2, 3];',
      'let f0 = (x) => { n0 += x; return n0; };',
      body,
      'await Promise.all(branches);',
      'return show([out, n0, o0, a0, branches.length]);',
    ].join('\n');
  }

  private pick(count: number): number {
    const value = this.at < this.tape.length ? this.tape[this.at] : 0;
    this.at++;
    return value % count;
  }

  private choose<T>(list: readonly T[]): T {
    return list[this.pick(list.length)];
  }

  private fresh(prefix: string): string {
    return `${prefix}${++this.names}`;
  }

  /** Statements in a scope of their own. */
  private block(place: Place, count: number): string {
    const { numbers, objects, arrays, functions } = place.scope;
    const scope = { numbers: [...numbers], objects: [...objects], arrays: [...arrays], functions: [...functions] };
    const inner = { ...place, scope, depth: place.depth + 1 };
    const lines: string[] = [];
    for (let i = 0; i < count && this.at < this.tape.length + 40; i++) lines.push(this.statement(inner));
    return lines.join('\n');
  }

  private statement(place: Place): string {
    const simple = [
      () => this.declare(place),
      () => this.assign(place),
      () => `out.push(${this.number(place)});`,
      () => this.alias(place),
      () => this.destructure(place),
      () => `${this.choose(place.scope.arrays)}.push(${this.number(place)});`,
      () => `out.push(${this.choose(place.scope.functions)}(${this.number(place)}));`,
    ];
    const nested = [
      () => this.loop(place),
      () => this.tryStatement(place),
      () => this.functionStatement(place),
      () => this.branch(place),
      () => this.ifStatement(place),
      () => this.loop(place),
      () => this.tryStatement(place),
      () => this.switchStatement(place),
      () => this.parallel(place),
      () => this.jump(place),
    ];
    const isNested = this.pick(3) > 0 && place.depth < DEEPEST;
    return this.choose(isNested ? nested : simple)();
  }

  private declare({ scope, ...place }: Place): string {
    const name = this.fresh('n');
    const text = `let ${name} = ${this.number({ scope, ...place })};`;
    scope.numbers.push(name);
    return text;
  }

  private assign(place: Place): string {
    const target = this.choose([
      // Never the counter of a loop: it would not end.
      () => this.choose(place.scope.numbers.filter((name) => name.startsWith('n'))),
      () => `${this.choose(place.scope.objects)}.${this.choose(['a', 'b', 'c'])}`,
      () => `${this.choose(place.scope.arrays)}[${this.pick(4)}]`,
    ])();
    return `${target} ${this.choose(['=', '+=', '-=', '??=', '||='])} ${this.number(place)};`;
  }

  /** New names for old objects, objects in objects, and objects in themselves. */
  private alias(place: Place): string {
    const { scope } = place;
    const from = this.choose(scope.objects);
    if (this.pick(2) === 0) return `${this.choose(scope.objects)}.${this.choose(['self', 'ref'])} = ${from};`;
    const name = this.fresh('o');
    const text = this.choose([
      () => `const ${name} = ${from};`,
      () => `const ${name} = { a: ${this.number(place)}, ref: ${from}, list: ${this.choose(scope.arrays)} };`,
      () => `const ${name} = { ...${from}, c: ${this.number(place)} };`,
    ])();
    scope.objects.push(name);
    return text;
  }

  private destructure(place: Place): string {
    const { scope } = place;
    const a = this.fresh('n');
    const b = this.fresh('n');
    const text = this.choose([
      () => `let [${a} = ${this.number(place)}, ${b} = 7] = ${this.choose(scope.arrays)};`,
      () => `let { a: ${a} = ${this.number(place)}, b: ${b} = 3 } = ${this.choose(scope.objects)};`,
      () => `let [${a}, , ...${this.fresh('a')}] = ${this.choose(scope.arrays)}, ${b} = ${a};`,
      () => `let ${a} = 1, ${b} = 2; [${a}, ${b}, n0] = [${b}, ${a}, ${this.number(place)}];`,
    ])();
    scope.numbers.push(a, b);
    return text;
  }

  private ifStatement(place: Place): string {
    const test = `${this.number(place)} ${this.choose(['>', '<', '===', '!=='])} ${this.number(place)}`;
    const otherwise = this.pick(2) === 0 ? '' : ` else {\n${this.block(place, 2)}\n}`;
    return `if (${test}) {\n${this.block(place, 2)}\n}${otherwise}`;
  }

  private loop(place: Place): string {
    const label = this.fresh('l');
    const name = this.fresh('i');
    const captured = this.fresh('f');
    const inside = (numbers: string[]): string => {
      const scope = { ...place.scope, numbers: [...place.scope.numbers, ...numbers] };
      return this.block({ ...place, scope, loops: [...place.loops, label] }, 1 + this.pick(3));
    };
    const kind = this.pick(4);
    if (kind === 0) return `${label}: for (let ${name} = 0; ${name} < ${1 + this.pick(3)}; ${name}++) {\n${inside([name])}\n}`;
    if (kind === 1) return `${label}: for (let ${name} of [${this.number(place)}, 5, ${this.number(place)}]) {\n${inside([name])}\n}`;
    if (kind === 2) {
      const body = inside([name]);
      const call = `for (const ${captured} of ${name}s) out.push(${captured}());`;
      return `const ${name}s = [];\n${label}: for (let ${name} = 0; ${name} < 3; ${name}++) {\n${name}s.push(() => ${name}++);\n${body}\n}\n${call}`;
    }
    return `let ${name} = 0;\n${label}: while (${name} < 2) {\n${name}++;\n${inside([])}\n}`;
  }

  private jump({ loops }: Place): string {
    if (loops.length === 0) return "out.push('no loop');";
    return `if (n0 % ${2 + this.pick(3)} === 0) ${this.choose(['continue', 'break'])} ${this.choose(loops)};`;
  }

  private tryStatement(place: Place): string {
    const failing = this.choose([
      '',
      `if (n0 % 2) throw new Error('m:${this.fresh('e')}');`,
      place.isAsync ? "await Task.run('bad', 1);" : 'null.x;',
    ]);
    const body = this.block(place, 1 + this.pick(2));
    const handler = this.pick(4) === 0 ? '' : ` catch (e) {\nout.push(told(e));\n${this.block(place, this.pick(2))}\n}`;
    const isGuarded = handler !== '';
    const cleanup = !isGuarded || this.pick(2) === 0 ? ` finally {\nout.push('finally');\n${this.block(place, 1 + this.pick(2))}\n}` : '';
    return `try {\n${body}\n${failing}\n}${handler}${cleanup}`;
  }

  private functionStatement(place: Place): string {
    const name = this.fresh('f');
    const scope = { ...place.scope, numbers: [...place.scope.numbers, 'x'] };
    const body = this.block({ scope, isAsync: false, loops: [], depth: place.depth + 1 }, this.pick(3));
    const text = `const ${name} = (x, y = ${this.number({ ...place, isAsync: false })}) => {\n${body}\nreturn x + y;\n};`;
    place.scope.functions.push(name);
    return text;
  }

  /** A concurrent branch that the end of the program waits for. */
  private branch(place: Place): string {
    const body = this.block({ ...place, isAsync: true, loops: [] }, 1 + this.pick(3));
    return `branches.push((async () => {\n${body}\nreturn ${this.pick(9)};\n})().catch((e) => { out.push('branch ' + told(e)); }));`;
  }

  private parallel(place: Place): string {
    const name = this.fresh('x');
    const scope = { ...place.scope, numbers: [...place.scope.numbers, name] };
    const body = this.block({ ...place, scope, isAsync: true, loops: [] }, 1 + this.pick(2));
    const all = `Promise.${this.choose(['all', 'allSettled'])}([1, 2].map(async (${name}) => {\n${body}\nreturn ${name} * 2;\n}))`;
    return place.isAsync ? `out.push((await ${all}).length);` : `branches.push(${all}.catch((e) => { out.push(told(e)); }));`;
  }

  private switchStatement(place: Place): string {
    const cases = [0, 1].map((value) => `case ${value}: {\n${this.block(place, 1)}\n}${this.pick(2) === 0 ? ' break;' : ''}`);
    return `switch ((${this.number(place)}) % 3) {\n${cases.join('\n')}\ndefault: {\n${this.block(place, 1)}\n}\n}`;
  }

  private number(place: Place, depth = 0): string {
    const { scope, isAsync } = place;
    const leaf = [() => String(this.pick(10)), () => this.choose(scope.numbers), () => `${this.choose(scope.arrays)}.length`];
    if (depth > 1 || this.pick(2) === 0) return this.choose(leaf)();
    const again = () => this.number(place, depth + 1);
    const deep = [
      () => `((${again()}) ${this.choose(['+', '-', '*', '%', '&', '??', '||'])} (${again()}))`,
      () => `(${again()} > 3 ? ${again()} : ${again()})`,
      () => `(${this.choose(scope.objects)}.${this.choose(['a', 'b'])} ?? ${again()})`,
      () => `${this.choose(scope.functions)}(${again()})`,
      () => `${this.choose(scope.arrays)}.map((v) => v + (${this.choose(scope.numbers)} | 0)).reduce((p, q) => p + q, 0)`,
    ];
    if (!isAsync) return this.choose(deep)();
    const durable = [
      () => `(await Task.run('t', (${again()}) | 0))`,
      () => `(await Promise.resolve(${again()}))`,
      () => `(await Promise.race([Task.run('slow', 1), Task.run('t', ${this.pick(9)})]))`,
      () => `((await Timer.sleep(${1 + this.pick(5)})) ?? ${again()})`,
      () => `(await (async (v) => v + (await Task.run('u', 2)))(${again()}))`,
    ];
    return this.choose(this.pick(2) === 0 ? deep : durable)();
  }
}

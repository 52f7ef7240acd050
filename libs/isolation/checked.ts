// One value of a reply, checked while it is read.

/** What is wrong with a reply. */
export class InvalidReply extends Error {}

export class Checked {
  constructor(
    private readonly value: unknown,
    private readonly what: string,
  ) {}

  object(): Record<string, unknown> {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.wrong('an object');
    return value as Record<string, unknown>;
  }

  list(): unknown[] {
    return Array.isArray(this.value) ? this.value : this.fail('an array');
  }

  string(): string {
    return typeof this.value === 'string' ? this.value : this.fail('a string');
  }

  /** As the VM accepts names: not empty, of limited length, and without NUL, which the database cannot store. */
  name(longest: number): string {
    const text = this.string();
    if (text === '' || text.length > longest || text.includes('\0')) throw this.wrong(`a string of 1 to ${longest} characters without NUL`);
    return text;
  }

  boolean(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.fail('true or false');
  }

  number(least: number, most: number): number {
    const { value } = this;
    return typeof value === 'number' && value >= least && value <= most ? value : this.fail(`a number from ${least} to ${most}`);
  }

  integer(least: number, most: number): number {
    const { value } = this;
    const fits = Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
    return fits ? (value as number) : this.fail(`a whole number from ${least} to ${most}`);
  }

  oneOf<T extends string>(choices: readonly T[]): T {
    return choices.includes(this.value as T) ? (this.value as T) : this.fail(`one of ${choices.join(', ')}`);
  }

  private fail(expected: string): never {
    throw this.wrong(expected);
  }

  // The value itself is not shown: it may be anything, and messages reach logs.
  private wrong(expected: string): InvalidReply {
    return new InvalidReply(`${this.what} is not ${expected}`);
  }
}

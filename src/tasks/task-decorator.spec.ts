// `@Task` where it cannot work: the error says what is missing.

import { describe, expect, it } from '@jest/globals';
import { Task } from './task-decorator.js';

describe('@Task', () => {
  it('compiled as a decorator of the later standard names the compiler option that is missing', () => {
    const decorate = Task('greet') as unknown as (value: unknown, context: unknown) => void;
    expect(() => decorate(() => 'Hello', { kind: 'method', name: 'greet' })).toThrow(/"experimentalDecorators": true in tsconfig.json/);
  });

  it('on something that is not a method names it', () => {
    const decorate = Task() as unknown as (target: object, key: string, descriptor: undefined) => void;
    expect(() => decorate({}, 'field', undefined)).toThrow('@Task was not given a method ("field").');
  });
});

// Schemas of tasks: what they refuse never reaches the task or the database, with any library of Standard Schema.

import { describe, expect, it } from '@jest/globals';
import { type CanActivate, Injectable, UseGuards } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import type { TaskContext } from '../../libs/engine/index.js';
import { loadSettings } from '../config/load-settings.js';
import { TaskExplorer } from './task.explorer.js';
import { TaskRegistry } from './task.registry.js';
import { Task } from './task-decorator.js';

const { task: defaults } = loadSettings({ options: { database: 'embedded' }, env: {}, folder: '/nowhere' }).settings;
const CONTEXT = { executionId: 'run-1' } as TaskContext;

async function explore(provider: new () => object): Promise<TaskRegistry> {
  const module = await Test.createTestingModule({ imports: [DiscoveryModule], providers: [TaskExplorer, provider] }).compile();
  const registry = new TaskRegistry();
  module.get(TaskExplorer).explore(registry, defaults);
  return registry;
}

const Order = z.object({ id: z.string(), items: z.array(z.object({ price: z.number().positive() })), note: z.string().default('none') });
const Slow = z.string().refine(async (text) => text !== 'taken', 'is taken');
let called = 0;

class Counted implements CanActivate {
  canActivate() {
    called++;
    return true;
  }
}

@Injectable()
class Orders {
  @Task('total', { input: Order, output: z.number().int() })
  total(order: z.infer<typeof Order>, ctx: TaskContext) {
    called++;
    return order.items.reduce((sum, { price }) => sum + price, 0) + (order.note === 'none' && ctx ? 0 : 0.5);
  }

  @Task('name', { input: Slow, output: z.string().transform((text) => text.toUpperCase()) })
  async name(name: string) {
    return name;
  }

  @Task('guarded', { input: v.object({ n: v.number() }) })
  @UseGuards(Counted)
  guarded({ n }: { n: number }) {
    return n + 1;
  }

  @Task('ark', { input: type({ n: 'number > 0' }) })
  ark({ n }: { n: number }) {
    return n;
  }
}

const run = async (task: string, input: unknown) => (await explore(Orders)).require(task).run(input, CONTEXT);
const failure = async (task: string, input: unknown) => {
  try {
    await run(task, input);
  } catch (error) {
    return error;
  }
  throw new Error('The task was run.');
};

describe('the schema of an input', () => {
  it('gives the task what it returns, with defaults', async () => {
    expect(await run('total', { id: 'o-1', items: [{ price: 2 }, { price: 3 }], extra: true })).toBe(5);
    expect(await run('guarded', { n: 1 })).toBe(2);
    expect(await run('ark', { n: 1 })).toBe(1);
  });

  it('fails the task for good with every issue and its path, before the task or a guard is called', async () => {
    called = 0;
    expect(await failure('total', { id: 1, items: [{ price: -1 }] })).toMatchObject({
      name: 'NonRetryableError',
      code: 'RHYTHM_TASK_INPUT',
      message: expect.stringMatching(/^The input of task "total" was refused: id: .+; items\.0\.price: .+/),
      data: {
        issues: [
          { path: 'id', message: expect.any(String) },
          { path: 'items.0.price', message: expect.any(String) },
        ],
      },
    });
    expect(await failure('guarded', {})).toMatchObject({ code: 'RHYTHM_TASK_INPUT', data: { issues: [{ path: 'n' }] } });
    expect(await failure('ark', { n: 0 })).toMatchObject({ code: 'RHYTHM_TASK_INPUT', data: { issues: [{ path: 'n' }] } });
    expect(await failure('total', undefined)).toMatchObject({ data: { issues: [{ path: '' }] } });
    expect(called).toBe(0);
  });

  it('may check asynchronously', async () => {
    expect(await run('name', 'free')).toBe('FREE');
    expect(await failure('name', 'taken')).toMatchObject({ message: 'The input of task "name" was refused: is taken' });
  });
});

describe('the schema of a result', () => {
  it('fails the task for good when the result does not fit', async () => {
    expect(await failure('total', { id: 'o-1', items: [{ price: 2 }], note: 'x' })).toMatchObject({
      name: 'NonRetryableError',
      code: 'RHYTHM_TASK_OUTPUT',
      message: expect.stringMatching(/^The result of task "total" does not fit its schema: /),
    });
  });
});

describe('a schema that is none', () => {
  it('is refused at boot with what to give', async () => {
    class Dto {}
    @Injectable()
    class Wrong {
      @Task('wrong', { input: Dto as never })
      wrong() {}
    }
    await expect(explore(Wrong)).rejects.toThrow(/@Task on Wrong\.wrong .*: input is .*not a schema.*ValidationPipe/);
  });

  it('is one that does not fit its method, to the compiler', () => {
    class Typed {
      // @ts-expect-error the schema returns a string
      @Task('typed', { input: z.string() })
      typed(input: number) {
        return input;
      }
      // @ts-expect-error the schema takes a number
      @Task('result', { output: z.number() })
      result() {
        return 'text';
      }
      @Task('fits', { input: z.string(), output: z.object({ n: z.number() }) })
      async fits(input: string) {
        return { n: input.length };
      }
    }
    expect(Typed).toBeDefined();
  });
});

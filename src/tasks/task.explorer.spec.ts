// Finding tasks: on any provider, even request-scoped ones; duplicates and wrong options are refused with their place.

import { describe, expect, it } from '@jest/globals';
import { Controller, Inject, Injectable, Module, type ModuleMetadata, Scope, SetMetadata } from '@nestjs/common';
import { DiscoveryModule, REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { TaskContext } from '../../libs/engine/index.js';
import { loadSettings } from '../config/load-settings.js';
import { TaskExplorer } from './task.explorer.js';
import { TaskRegistry } from './task.registry.js';
import { Task } from './task-decorator.js';

const { task: defaults } = loadSettings({ options: { database: 'embedded' }, env: {}, folder: '/nowhere' }).settings;
const context = { executionId: 'x', attempt: 1 } as TaskContext;

async function explore(...providers: object[]): Promise<TaskRegistry> {
  return exploreModule({ providers: providers as never });
}

async function exploreModule(metadata: ModuleMetadata): Promise<TaskRegistry> {
  @Module(metadata)
  class App {}
  const module = await Test.createTestingModule({ imports: [DiscoveryModule, App], providers: [TaskExplorer] }).compile();
  const registry = new TaskRegistry();
  module.get(TaskExplorer).explore(registry, defaults);
  return registry;
}

@Injectable()
class Prices {
  readonly rate = 2;
}

@Injectable()
class Billing {
  constructor(@Inject(Prices) private readonly prices: Prices) {}

  @Task('charge', { queue: 'money', timeout: '30s', retry: { maxAttempts: 5, delay: '2s' } })
  charge(input: { amount: number }, ctx: TaskContext) {
    return { charged: input.amount * this.prices.rate, in: ctx.executionId };
  }

  @Task()
  refund() {
    return 'refunded';
  }

  @Task({ name: 'void-payment', transactional: true })
  async void() {}

  helper() {}
}

describe('task discovery', () => {
  it('finds marked methods with their own names, and calls them on their provider', async () => {
    const registry = await explore(Prices, Billing);
    expect(registry.names().sort()).toEqual(['charge', 'refund', 'void-payment']);
    expect(registry.require('charge').run({ amount: 21 }, context)).toEqual({ charged: 42, in: 'x' });
  });

  it('reads durations and fills in the defaults', async () => {
    const registry = await explore(Prices, Billing);
    expect(registry.require('charge').policy).toMatchObject({
      queue: 'money',
      timeoutMs: 30_000,
      maxAttempts: 5,
      delayMs: 2_000,
      backoff: 'exponential',
    });
    expect(registry.require('refund').policy).toMatchObject({ queue: 'default', maxAttempts: 3, transactional: false, jitter: true });
  });

  it('finds tasks of base classes, factories, values and controllers', async () => {
    class Base {
      @Task('inherited')
      inherited() {
        return this.constructor.name;
      }
    }
    class Child extends Base {}
    class Made {
      @Task('made')
      made() {
        return 'by a factory';
      }
    }
    class Given {
      @Task('given')
      given() {
        return 'as a value';
      }
    }
    @Controller()
    class Door {
      @Task('door')
      door() {
        return 'open';
      }
    }
    const providers = [Child, { provide: 'made', useFactory: () => new Made() }, { provide: 'given', useValue: new Given() }];
    const registry = await exploreModule({ providers, controllers: [Door] });
    expect(registry.require('inherited').run(undefined, context)).toBe('Child');
    expect(registry.require('made').run(undefined, context)).toBe('by a factory');
    expect(registry.require('given').run(undefined, context)).toBe('as a value');
    expect(registry.require('door').run(undefined, context)).toBe('open');
  });

  it('creates a request-scoped provider for each call, with the call as its request', async () => {
    let made = 0;
    @Injectable({ scope: Scope.REQUEST })
    class PerCall {
      private readonly number = ++made;
      constructor(@Inject(REQUEST) private readonly request: { input: unknown }) {}

      @Task('per-call')
      run() {
        return [this.number, this.request.input];
      }
    }
    const registry = await explore(PerCall);
    expect(await registry.require('per-call').run('a', context)).toEqual([1, 'a']);
    expect(await registry.require('per-call').run('b', context)).toEqual([2, 'b']);
  });

  it('finds a method that another copy of the package has marked', async () => {
    class Foreign {
      @SetMetadata('rhythm:task', { name: 'foreign', options: {} })
      foreign() {
        return 'found';
      }
    }
    expect((await explore(Foreign)).require('foreign').run(undefined, context)).toBe('found');
  });

  it('takes a method of a subclass for a task only if it is marked itself', async () => {
    class Base {
      @Task('overridden')
      run() {}
    }
    class Child extends Base {
      override run() {}
    }
    expect((await explore(Child)).names()).toEqual([]);
  });

  it('counts an aliased provider once', async () => {
    const registry = await explore(Prices, Billing, { provide: 'alias', useExisting: Billing });
    expect(registry.names()).toHaveLength(3);
  });

  it('refuses two tasks with the same name and names the places of both', async () => {
    class Other {
      @Task('charge')
      charge() {}
    }
    await expect(explore(Prices, Billing, Other)).rejects.toThrow(
      /Two tasks are named "charge": Billing\.charge .* and Other\.charge .* Tasks found so far: "charge"/s,
    );
  });

  it('refuses unknown and wrong options with the place and the nearest name', async () => {
    class Slip {
      @Task('slip', { timeOut: '3s' } as object)
      slip() {}
    }
    class Wrong {
      @Task('wrong', { retry: { delay: 'later' } })
      wrong() {}
    }
    await expect(explore(Slip)).rejects.toThrow(/Unknown option "timeOut" in @Task on Slip\.slip .* Did you mean "timeout"/);
    await expect(explore(Wrong)).rejects.toThrow(/Wrong\.wrong .*retry\.delay: "later" is not a duration/);
  });

  it('names the nearest task when one is unknown', async () => {
    const registry = await explore(Prices, Billing);
    expect(() => registry.require('chagre')).toThrow(
      expect.objectContaining({
        code: 'RHYTHM_UNKNOWN_TASK',
        message: expect.stringMatching(/Did you mean "charge"\? Tasks of this process: "charge", "refund", "void-payment"/),
      }),
    );
  });
});

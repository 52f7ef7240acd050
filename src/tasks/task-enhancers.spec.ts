// Guards, pipes, interceptors and exception filters around tasks: they run as around an HTTP route, and none is ignored.

import { describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  createParamDecorator,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  type NestInterceptor,
  ParseIntPipe,
  type PipeTransform,
  Query,
  Scope,
  ServiceUnavailableException,
  SetMetadata,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, APP_PIPE, DiscoveryModule, REQUEST, Reflector } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { IsInt, IsString, Min } from 'class-validator';
import { map, tap } from 'rxjs';
import type { TaskContext } from '../../libs/engine/index.js';
import { loadSettings } from '../config/load-settings.js';
import { RhythmExecutionContext } from './rhythm-execution-context.js';
import { TaskExplorer } from './task.explorer.js';
import { TaskRegistry } from './task.registry.js';
import { Task } from './task-decorator.js';
import type { GlobalEnhancers } from './task-enhancers.js';
import { TaskCtx, TaskInput } from './task-parameters.js';

const { task: defaults } = loadSettings({ options: { database: 'embedded' }, env: {}, folder: '/nowhere' }).settings;
const CONTEXT = { executionId: 'run-1', attempt: 1 } as TaskContext;

let steps: string[] = [];

@Injectable()
class Rates {
  readonly rate = 2;
}

@Injectable()
class RoleGuard implements CanActivate {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(Rates) readonly rates: Rates,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    steps.push('guard');
    return this.reflector.get<string>('role', context.getHandler()) !== 'nobody' && this.rates.rate === 2;
  }
}

@Injectable()
class Around implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    steps.push('before');
    return next.handle().pipe(
      tap(() => steps.push('after')),
      map((value) => ({ value })),
    );
  }
}

@Injectable()
class Noting implements PipeTransform {
  transform(value: unknown, { type }: { type: string }) {
    steps.push(`pipe ${type}`);
    return value;
  }
}

@Catch(RangeError)
class OutOfRange implements ExceptionFilter {
  catch(error: RangeError) {
    steps.push('filter');
    return { outOfRange: error.message };
  }
}

class Charge {
  @IsString()
  order!: string;

  @IsInt()
  @Min(1)
  amount!: number;

  doubled() {
    return this.amount * 2;
  }
}

async function appWith(metadata: ModuleMetadata, app?: GlobalEnhancers) {
  @Module(metadata)
  class App {}
  const module = await Test.createTestingModule({ imports: [DiscoveryModule, App], providers: [TaskExplorer] }).compile();
  const registry = new TaskRegistry();
  return { module, registry, explore: () => module.get(TaskExplorer).explore(registry, defaults, app) };
}

async function run(metadata: ModuleMetadata, task: string, input: unknown, app?: GlobalEnhancers) {
  const { registry, explore } = await appWith(metadata, app);
  explore();
  steps = [];
  return registry.require(task).run(input, CONTEXT);
}

describe('a task with enhancers', () => {
  @UseGuards(RoleGuard)
  @UseInterceptors(Around)
  @Controller()
  class Orders {
    @Get('/charge')
    @UsePipes(Noting)
    @UseFilters(OutOfRange)
    byRoute(@Query() query: object) {
      steps.push('method');
      if ('fail' in query) throw new RangeError('too much');
      return 'charged';
    }

    @Task('charge')
    @UsePipes(Noting)
    @UseFilters(OutOfRange)
    byTask(input: object, ctx: TaskContext) {
      steps.push('method');
      if ('fail' in input) throw new RangeError('too much');
      return `charged in ${ctx.executionId}`;
    }

    @Task('forbidden')
    @SetMetadata('role', 'nobody')
    forbidden() {
      steps.push('method');
    }
  }
  const metadata = { providers: [Rates], controllers: [Orders] };

  it('runs them in the order of an HTTP route', async () => {
    const { module, registry, explore } = await appWith(metadata);
    const app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    explore();
    const ofRoute = async (query: string) => {
      steps = [];
      await fetch(`${await app.getUrl()}/charge${query}`, { headers: { connection: 'close' } });
      return steps.map((each) => each.replace('query', 'body'));
    };
    try {
      const good = await ofRoute('');
      steps = [];
      expect(await registry.require('charge').run({}, CONTEXT)).toEqual({ value: 'charged in run-1' });
      expect(steps).toEqual(['guard', 'before', 'pipe body', 'method', 'after']);
      expect(steps).toEqual(good);
    } finally {
      await app.close();
    }
  });

  it('gets as its result what a filter returns', async () => {
    expect(await run(metadata, 'charge', { fail: true })).toEqual({ outOfRange: 'too much' });
    expect(steps).toEqual(['guard', 'before', 'pipe body', 'method', 'filter']);
  });

  it('fails for good when a guard says no', async () => {
    await expect(run(metadata, 'forbidden', {})).rejects.toMatchObject({
      name: 'NonRetryableError',
      code: 'RHYTHM_TASK_FORBIDDEN',
      message: 'A guard refused task "forbidden": Forbidden resource',
    });
    expect(steps).toEqual(['guard']);
  });

  it('is called as before when it has none', async () => {
    @Injectable()
    class Plain {
      @Task()
      plain(input: unknown, ctx: TaskContext) {
        return [input, ctx];
      }
    }
    expect(await run({ providers: [Plain] }, 'plain', 1)).toEqual([1, CONTEXT]);
  });
});

describe('the input of a task', () => {
  @Injectable()
  class Billing {
    @Task('charge')
    @UsePipes(new ValidationPipe({ transform: true, whitelist: true }))
    charge(input: Charge, ctx: TaskContext) {
      return [input.doubled(), Object.keys(input), ctx.executionId];
    }

    @Task('refund')
    refund(@TaskCtx() ctx: TaskContext, @TaskInput('amount', ParseIntPipe) amount: number, @TaskInput() all: { amount: string }) {
      return [ctx.executionId, amount, all];
    }

    @Task('transient')
    @UsePipes({
      transform() {
        throw new ServiceUnavailableException('The price list cannot be read');
      },
    })
    transient() {}
  }
  const metadata = { providers: [Billing] };

  it('is validated and transformed by a ValidationPipe; the context is not', async () => {
    expect(await run(metadata, 'charge', { order: 'o-1', amount: 21, extra: true })).toEqual([42, ['order', 'amount'], 'run-1']);
  });

  it('fails the task for good with the details when a pipe refuses it', async () => {
    await expect(run(metadata, 'charge', { amount: 0 })).rejects.toMatchObject({
      name: 'NonRetryableError',
      code: 'RHYTHM_TASK_INPUT',
      message: 'The input of task "charge" was refused: order must be a string; amount must not be less than 1',
      data: { statusCode: 400, message: ['order must be a string', 'amount must not be less than 1'] },
    });
  });

  it('is given by decorators in any order, with pipes of their own', async () => {
    expect(await run(metadata, 'refund', { amount: '7' })).toEqual(['run-1', 7, { amount: '7' }]);
    await expect(run(metadata, 'refund', { amount: 'seven' })).rejects.toMatchObject({ code: 'RHYTHM_TASK_INPUT' });
    await expect(run(metadata, 'refund', undefined)).rejects.toMatchObject({ code: 'RHYTHM_TASK_INPUT' });
  });

  it('is tried again when a pipe fails for another reason', async () => {
    await expect(run(metadata, 'transient', {})).rejects.toBeInstanceOf(ServiceUnavailableException);
  });

  it('reaches enhancers and parameter decorators through RhythmExecutionContext', async () => {
    const Tenant = createParamDecorator((_data: unknown, context: ExecutionContext) => {
      const call = RhythmExecutionContext.create(context);
      return `${call.getInput<{ tenant: string }>().tenant} in ${call.getTaskContext().executionId}`;
    });
    @Injectable()
    class Reports {
      @Task('report')
      report(@Tenant() tenant: string) {
        return tenant;
      }
    }
    expect(await run({ providers: [Reports] }, 'report', { tenant: 'acme' })).toBe('acme in run-1');
    const http = { getType: () => 'http' } as ExecutionContext;
    expect(() => RhythmExecutionContext.create(http)).toThrow(/context of type "http". Ask context.getType\(\)/);
  });
});

describe('scopes', () => {
  it('has an own guard for each call when the guard is request-scoped', async () => {
    let made = 0;
    @Injectable({ scope: Scope.REQUEST })
    class PerCall implements CanActivate {
      private readonly number = ++made;
      constructor(@Inject(REQUEST) private readonly request: { input: { limit: number } }) {}
      canActivate() {
        return this.number <= this.request.input.limit;
      }
    }
    @Injectable()
    class Limited {
      @Task('limited')
      @UseGuards(PerCall)
      limited() {
        return made;
      }
    }
    const { registry, explore } = await appWith({ providers: [Limited] });
    explore();
    const task = registry.require('limited');
    made = 0;
    expect(await task.run({ limit: 1 }, CONTEXT)).toBe(1);
    expect(await task.run({ limit: 2 }, CONTEXT)).toBe(2);
    await expect(task.run({ limit: 2 }, CONTEXT)).rejects.toMatchObject({ code: 'RHYTHM_TASK_FORBIDDEN' });
  });

  it('creates a transient guard with what it needs', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient implements CanActivate {
      constructor(@Inject(Rates) private readonly rates: Rates) {}
      canActivate() {
        return this.rates.rate === 2;
      }
    }
    @Injectable()
    class Guarded {
      @Task('guarded')
      @UseGuards(Transient)
      guarded() {
        return 'done';
      }
    }
    expect(await run({ providers: [Guarded, Rates] }, 'guarded', {})).toBe('done');
  });
});

describe('app-wide enhancers', () => {
  class Deny implements CanActivate {
    canActivate() {
      return false;
    }
  }
  @Injectable({ scope: Scope.REQUEST })
  class DenyPerCall implements CanActivate {
    constructor(@Inject(REQUEST) private readonly request: { input: string }) {}
    canActivate() {
      return this.request.input === 'open';
    }
  }
  class Twice implements PipeTransform {
    transform(value: number) {
      return value * 2;
    }
  }
  @Injectable()
  class Plain {
    @Task('plain')
    plain(input: unknown) {
      return input;
    }
  }
  const providers = [Plain, { provide: APP_GUARD, useClass: Deny }, { provide: APP_PIPE, useClass: Twice }];

  it('do not apply unless their kind is chosen', async () => {
    expect(await run({ providers }, 'plain', 21)).toBe(21);
    expect(await run({ providers }, 'plain', 21, { pipes: true, guards: false })).toBe(42);
    await expect(run({ providers }, 'plain', 21, { guards: true })).rejects.toMatchObject({ code: 'RHYTHM_TASK_FORBIDDEN' });
  });

  it('are created for each call when they are request-scoped', async () => {
    const scoped = [Plain, { provide: APP_GUARD, useClass: DenyPerCall }];
    expect(await run({ providers: scoped }, 'plain', 'open', { guards: true })).toBe('open');
    await expect(run({ providers: scoped }, 'plain', 'closed', { guards: true })).rejects.toMatchObject({ code: 'RHYTHM_TASK_FORBIDDEN' });
  });
});

describe('what cannot be applied is refused at boot', () => {
  it('a guard class on what a factory made', async () => {
    class Made {
      @Task('made')
      @UseGuards(RoleGuard)
      made() {}
    }
    const { explore } = await appWith({ providers: [{ provide: 'made', useFactory: () => new Made() }] });
    expect(explore).toThrow(/The guard RoleGuard of task made\.made .* cannot be created.*give an instance: new RoleGuard\(\)/);
  });

  it('a pipe class of a parameter on what a factory made', async () => {
    class Made {
      @Task('made')
      made(@TaskInput(Noting) input: unknown) {
        return input;
      }
    }
    const { explore } = await appWith({ providers: [{ provide: 'made', useFactory: () => new Made() }] });
    expect(explore).toThrow(/The pipe Noting of task made\.made .* cannot be created.*give an instance: new Noting\(\)/);
  });

  it('a parameter that only an HTTP request has', async () => {
    @Controller()
    class Mixed {
      @Get()
      @Task('mixed')
      mixed(@Query('q') q: string) {
        return q;
      }
    }
    const { explore } = await appWith({ controllers: [Mixed] });
    expect(explore).toThrow(/Task Mixed\.mixed .* has a parameter that only an HTTP request has\. Use @TaskInput\(\)/);
  });
});

describe('an exception of the task itself', () => {
  it('is retried as its policy says, whatever its class, and keeps its class', async () => {
    @Injectable()
    @UseGuards(RoleGuard)
    class Failing {
      @Task('failing')
      failing() {
        throw new BadRequestException('the bank refused');
      }
      @Task('mapped')
      @UseFilters({
        catch() {
          throw new ForbiddenException('mapped');
        },
      })
      mapped() {
        throw new Error('original');
      }
    }
    const metadata = { providers: [Failing, Rates] };
    await expect(run(metadata, 'failing', {})).rejects.toBeInstanceOf(BadRequestException);
    await expect(run(metadata, 'mapped', {})).rejects.toMatchObject({ name: 'ForbiddenException', message: 'mapped' });
  });
});

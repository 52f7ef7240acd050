// Enhancers of tasks in a running app: what a guard or pipe refuses fails the task at once, and the flow sees why.

import { describe, expect, it } from '@jest/globals';
import { type CanActivate, type ExecutionContext, Injectable, UseGuards, UsePipes, ValidationPipe } from '@nestjs/common';
import { IsInt, Min } from 'class-validator';
import { RhythmExecutionContext, Task } from '../../src/index.js';
import { useTestDatabase } from '../support/index.js';
import { startApp } from './start-app.js';

class Charge {
  @IsInt()
  @Min(1)
  amount!: number;
}

let calls = 0;

@Injectable()
class BusinessHours implements CanActivate {
  canActivate(context: ExecutionContext) {
    calls++;
    const { attempt, executionId } = RhythmExecutionContext.create(context).getTaskContext();
    return (
      attempt === 1 && executionId.length > 0 && RhythmExecutionContext.create(context).getInput<{ closed?: boolean }>().closed !== true
    );
  }
}

@Injectable()
class Billing {
  @Task('charge')
  @UseGuards(BusinessHours)
  @UsePipes(new ValidationPipe({ transform: true }))
  charge(input: Charge) {
    return { charged: input.amount, isCharge: input instanceof Charge };
  }
}

const FLOW = {
  name: 'order',
  source: `
    try {
      return await Task.run('charge', Inputs)
    } catch (error) {
      return [error.name, error.code, error.data, error.attempts, error.message]
    }`,
};

describe('a task with a guard and a pipe', () => {
  const database = useTestDatabase();

  it('runs with its validated input, and is not tried again when it is refused', async () => {
    const { executions, close } = await startApp(database, { flows: [FLOW] }, { providers: [Billing] });
    const outcomeOf = async (inputs: object) => executions.result((await executions.start('order', inputs)).id, { timeout: '20s' });
    expect(await outcomeOf({ amount: 5 })).toEqual({ charged: 5, isCharge: true });
    calls = 0;
    expect(await outcomeOf({ amount: 0 })).toEqual([
      'TaskError',
      'RHYTHM_TASK_INPUT',
      { statusCode: 400, error: 'Bad Request', message: ['amount must not be less than 1'] },
      1,
      'The input of task "charge" was refused: amount must not be less than 1',
    ]);
    expect(await outcomeOf({ amount: 5, closed: true })).toEqual([
      'TaskError',
      'RHYTHM_TASK_FORBIDDEN',
      { statusCode: 403, error: 'Forbidden', message: 'Forbidden resource' },
      1,
      'A guard refused task "charge": Forbidden resource',
    ]);
    expect(calls).toBe(2);
    await close();
  });
});

// `RhythmEvents` in an application: injected like a service, one for each Rhythm module, in API-only processes too.

import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { type EngineEvent, getRhythmToken, InjectRhythm, RhythmEvents, RhythmModule, SignalService, Task } from '../../src/index.js';
import { useTestDatabase, waitFor } from '../support/index.js';
import { quickOptions, startApp } from './start-app.js';

const FLOWS = [{ name: 'order', source: 'await Task.run("charge"); return await Signal.when("go")' }];

@Injectable()
class Tasks {
  @Task('charge')
  charge() {
    return 'paid';
  }
}

@Injectable()
class Log {
  readonly finished: string[] = [];
  readonly all: EngineEvent[] = [];

  constructor(@InjectRhythm(RhythmEvents) readonly events: RhythmEvents) {
    events.subscribe(['finished'], ({ name, status }) => this.finished.push(`${name} ${status}`));
    events.subscribe((event) => this.all.push(event));
  }
}

describe('the events of a process', () => {
  const database = useTestDatabase();

  it('reach a provider that injects them, from the first one on', async () => {
    const { app, executions, signals, close } = await startApp(database, { flows: FLOWS }, { providers: [Tasks, Log] });
    const log = app.get(Log);
    expect(log.all.map(({ type }) => type)).toContain('worker-started');
    const { id } = await executions.start('order');
    await signals.send(id, 'go', 1);
    await executions.result(id, { timeout: '10s' });
    await waitFor('the end of the run', () => log.finished.includes('order completed'));
    expect(log.finished).toEqual(['charge completed', 'order completed']);
    expect(log.all).toContainEqual({ type: 'signal-sent', executionId: id, signal: 'go' });
    await close();
  });

  it('are separate for each Rhythm module', async () => {
    const reports = RhythmModule.forRoot({ name: 'reports', ...quickOptions(database, { database: { schema: 'rhythm_reports' } }) });
    @Injectable()
    class Both {
      constructor(
        @InjectRhythm(RhythmEvents) readonly own: RhythmEvents,
        @InjectRhythm(RhythmEvents, 'reports') readonly others: RhythmEvents,
      ) {}
    }
    const { app, close } = await startApp(database, {}, { imports: [reports], providers: [Both] });
    const { own, others } = app.get(Both);
    expect(others).toBeInstanceOf(RhythmEvents);
    expect(others).not.toBe(own);
    expect(app.get(getRhythmToken(RhythmEvents, 'reports'))).toBe(others);
    await close();
  });

  it('can be injected where no work is run, and include the signals that were stored there', async () => {
    const { app, close } = await startApp(database, { role: 'api' }, { providers: [Log] });
    const signals = app.get(SignalService);
    await signals.send('later', 'go', 1, { key: 'once' });
    await signals.send('later', 'go', 1, { key: 'once' });
    expect(app.get(Log).all).toEqual([{ type: 'signal-sent', executionId: 'later', signal: 'go' }]);
    await close();
  });
});

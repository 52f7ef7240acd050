// A worker dies at each statement that it sends while a workflow has steps in place: before the statement, and after it with the
// reply lost. Another worker takes over, and the dead one comes back when everything is done, as a frozen process does.

import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import type { Engine } from '../../libs/engine/index.js';
import { readHistory, type Store, sendSignals } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Handler, Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';
import { type Death, type DyingStore, dyingStore } from './dying-store.js';
import { FREE_SLOTS, HeldTasks, inPlace, nothingIsLeft, settledOnce } from './steps.js';
import { losingReplies } from './watched-links.js';

const TIMES = { heartbeatMs: 30, deadAfterMs: 300, shutdownGraceMs: 0, ...FREE_SLOTS };
const BOTH = ['before', 'after'] as const;
const each = (names: readonly string[]) => names.flatMap((name) => BOTH.map((when) => [when, name] as const));

/** The worker that dies, and what it runs. */
interface Victim {
  harness: Harness;
  id: string;
  engine: Engine;
  held: HeldTasks;
  store: DyingStore;
}

describe('a worker that dies', () => {
  const stores: DyingStore[] = [];
  // Before the harness is closed: it waits for its engines.
  afterEach(() => {
    for (const store of stores) store.comeBack();
  });
  const kit = useHarness();
  afterAll(async () => {
    for (const { store } of stores) await store.close();
  });

  async function dying(death: Death): Promise<DyingStore> {
    const store = await dyingStore({ url: kit.url, schema: kit.schema }, { ...death, statement: `rhythm_${death.statement}` });
    stores.push(store);
    return store;
  }

  /** A run with steps that the worker holds; everything it holds is done at once elsewhere. */
  async function holding(death: Death, flow = `return await Task.run('hold');`, use = (store: Store) => store): Promise<Victim> {
    kit.expectProblems();
    const held = new HeldTasks();
    const harness = await kit.open({ flows: { f: flow }, engine: TIMES });
    const store = await dying(death);
    const report: Handler = async (input, context) => {
      await context.heartbeat('halfway');
      return held.hold(input, context);
    };
    const later: Handler = async (input, context) => {
      await context.completeLater();
      return held.hold(input, context);
    };
    const engine = await harness.engine({}, use(store.store), { hold: held.hold, report, later });
    const id = await harness.start('f');
    return { harness, id, engine, held, store };
  }

  const elsewhere: Handler = () => 'elsewhere';
  const takeOver = ({ harness }: Victim) => harness.engine({}, harness.store, { hold: elsewhere, report: elsewhere, later: elsewhere });

  /** Another worker ends the run; what the dead one does when it comes back changes nothing. */
  async function endsOnce(victim: Victim, value: unknown, calls: number): Promise<void> {
    const { harness, id, store, held, engine } = victim;
    const end = await harness.ended(id);
    expect(end).toMatchObject({ status: 'completed', value, crashes: 0 });
    await settledOnce(harness, id, calls);
    const { workerId } = engine;
    await waitFor('it to be declared dead', async () => (await harness.count('worker_heartbeats', `worker_id = '${workerId}'`)) === 0);
    const isReplaced = () => harness.events.some(({ type }) => type === 'worker-declared-dead' || type === 'worker-stopped');
    store.comeBack();
    for (const one of held.running) held.end(one, 'from a dead worker');
    await waitFor('the dead worker to notice', isReplaced);
    await nothingIsLeft(harness);
    await settledOnce(harness, id, calls);
    expect(await harness.ended(id)).toEqual(end);
  }

  /** The run only waited: what was taken from the dead worker were its steps. */
  async function runWasNotHeld({ harness, id }: Victim): Promise<void> {
    const kinds = (await readHistory(harness.store.db, id)).map(({ kind }) => kind);
    expect(kinds).not.toContain('recovered');
    expect(kinds.filter((kind) => kind === 'step-recovered').length).toBeLessThanOrEqual(1);
  }

  const STEPS = `
    let one = await Task.run('step', 1);
    let [two, three] = await Promise.all([Task.run('step', 2), Task.run('step', 3)]);
    Task.run('step', 4);
    return [one, two, three, await Task.run('step', 5)];
  `;

  it.each(BOTH.flatMap((when) => [1, 2, 3, 4].map((nth) => [when, nth] as const)))(
    '%s commit %i of a run whose steps are in place, is followed by one that ends each step once',
    async (when, nth) => {
      kit.expectProblems();
      const runs = new Map<string, number>();
      const step: Handler = async (input, { executionId }) => {
        runs.set(executionId, (runs.get(executionId) ?? 0) + 1);
        return input;
      };
      const harness = await kit.open({ flows: { f: STEPS }, tasks: { step }, engine: TIMES });
      const store = await dying({ statement: 'commit_', when, nth });
      const engine = await harness.engine({}, store.store);
      store.arm();
      const id = await harness.start('f');
      await store.died();
      await harness.engine();
      await endsOnce({ harness, id, engine, held: new HeldTasks(), store }, [1, 2, 3, 5], 5);
      // Each of the two workers at most once.
      for (let call = 1; call <= 5; call++) expect([1, 2]).toContain(runs.get(`${id}:${call}`));
    },
  );

  it.each(each(['claim_work', 'load_contexts', 'load_events']))(
    '%s %s of a run that is to begin, loses nothing',
    async (when, statement) => {
      const death = { statement, when };
      kit.expectProblems();
      const harness = await kit.open({ flows: { f: STEPS }, tasks: { step: (n: number) => n }, engine: TIMES });
      const store = await dying(death);
      const engine = await harness.engine({}, store.store);
      store.arm();
      const id = await harness.start('f');
      await store.died();
      await harness.engine();
      await endsOnce({ harness, id, engine, held: new HeldTasks(), store }, [1, 2, 3, 5], 5);
    },
  );

  it.each(each(['write_heartbeat', 'claim_ids', 'unknown_steps', 'lost_items', 'read_heartbeats']))(
    '%s %s of its heartbeat, leaves its steps to another',
    async (when, statement) => {
      const victim = await holding({ statement, when });
      const { harness, id, held, store } = victim;
      // A task with a row: only such are looked for among the lost.
      const task = await harness.start('hold');
      await held.began(`${id}:1`);
      await held.began(task);
      expect(await inPlace(harness, id)).toBe(1);
      store.arm();
      await store.died();
      await takeOver(victim);
      await endsOnce(victim, 'elsewhere', 1);
      expect(await harness.ended(task)).toMatchObject({ status: 'completed', value: 'elsewhere' });
      await runWasNotHeld(victim);
    },
  );

  it.each(each(['move_due', 'load_events']))(
    '%s %s of a turn while a step runs in place, leaves both to another',
    async (when, statement) => {
      const isTimer = statement === 'move_due';
      const flow = isTimer
        ? `return await Promise.all([Task.run('hold'), Timer.sleep(300)]);`
        : `return await Promise.all([Task.run('hold'), Signal.when('go')]);`;
      const victim = await holding({ statement, when }, flow);
      const { harness, id, held, store } = victim;
      await held.began(`${id}:1`);
      expect(await inPlace(harness, id)).toBe(1);
      store.arm();
      if (!isTimer) await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '"gone"' }]);
      await store.died();
      await takeOver(victim);
      await endsOnce(victim, ['elsewhere', isTimer ? null : 'gone'], 1);
    },
  );

  it.each([
    ...each(['promote_steps', 'task_progress']).map(([when, statement]) => [when, statement, 'report'] as const),
    ...each(['promote_steps', 'store_token']).map(([when, statement]) => [when, statement, 'later'] as const),
  ])('%s %s, when the step calls %s, leaves the step to another', async (when, statement, task) => {
    const victim = await holding({ statement, when }, `return await Promise.all([Task.run('${task}'), Task.run('hold')]);`);
    victim.store.arm();
    await victim.store.died();
    await takeOver(victim);
    await endsOnce(victim, ['elsewhere', 'elsewhere'], 2);
  });

  it.each(each(['requeue_steps', 'give_back_some', 'remove_worker']))(
    '%s %s while it is stopped, leaves its step to another',
    async (when, statement) => {
      const victim = await holding({ statement, when });
      const { harness, id, held, store, engine } = victim;
      await held.began(`${id}:1`);
      expect(await inPlace(harness, id)).toBe(1);
      store.arm();
      const stopped = engine.stop();
      await store.died();
      await takeOver(victim);
      const end = await harness.ended(id);
      expect(end).toMatchObject({ status: 'completed', value: 'elsewhere' });
      await runWasNotHeld(victim);
      store.comeBack();
      await stopped;
      await nothingIsLeft(harness);
      await settledOnce(harness, id, 1);
    },
  );

  it.each(each(['requeue_steps']))(
    '%s %s, when the reply to the commit that began its steps was lost, leaves the steps to another',
    async (when, statement) => {
      let lost = 0;
      const victim = await holding({ statement, when }, undefined, (store) =>
        losingReplies(store, ({ name }) => name.startsWith('rhythm_commit_') && lost++ === 0),
      );
      victim.store.arm();
      await victim.store.died();
      expect(lost).toBeGreaterThan(0);
      await takeOver(victim);
      await endsOnce(victim, 'elsewhere', 1);
      expect(victim.held.begun).toEqual([]);
    },
  );

  it.each(each(['give_back']))('%s %s, when the reply to a claim was lost, leaves the run to another', async (when, statement) => {
    let lost = 0;
    const flow = `return [await Task.run('hold'), await Task.run('hold')];`;
    const victim = await holding({ statement, when }, flow, (store) =>
      losingReplies(store, ({ name }) => name === 'rhythm_claim_work' && lost++ < 3),
    );
    victim.store.arm();
    await victim.store.died();
    await takeOver(victim);
    await endsOnce(victim, ['elsewhere', 'elsewhere'], 2);
  });

  it.each(each(['requeue_unknown_steps']))(
    '%s %s, with a step that only the database knows, leaves it to another',
    async (when, statement) => {
      const victim = await holding({ statement, when });
      const { harness, id, held, store } = victim;
      await held.began(`${id}:1`);
      store.arm();
      // As after a failover that has lost the last commits: a step that had ended is in the row of its run again.
      await harness.query(
        `UPDATE rhythm.executions SET pending = replace(pending, substring(pending from '^\\[\\[1,(\\d+)'), '7') WHERE id = $1`,
        [id],
      );
      await store.died();
      await takeOver(victim);
      await endsOnce(victim, 'elsewhere', 1);
    },
  );

  it.each([
    ...each(['recover_steps', 'recover_worker']).map(([when, name]) => [when, name, 1] as const),
    ['after', 'recover_steps', 2] as const,
  ])('%s %s of another that had died (time %i), leaves the steps of both to a third', async (when, statement, nth) => {
    const victim = await holding({ statement: 'unknown_steps', when: 'before' });
    const { harness, id, held, store } = victim;
    await held.began(`${id}:1`);
    expect(await inPlace(harness, id)).toBe(1);
    store.arm();
    await store.died();
    const second = await dying({ statement, when, nth });
    second.arm();
    const other = new HeldTasks();
    await harness.engine({}, second.store, { hold: other.hold });
    const own = await harness.start('f');
    await other.began(`${own}:1`);
    await second.died();
    await takeOver(victim);
    expect(await harness.ended(own)).toMatchObject({ status: 'completed', value: 'elsewhere', crashes: 0 });
    second.comeBack();
    await endsOnce(victim, 'elsewhere', 1);
    await settledOnce(harness, own, 1);
    await runWasNotHeld(victim);
    await runWasNotHeld({ ...victim, id: own });
  });
});

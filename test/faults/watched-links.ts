// A store whose engine connections a spec watches: it may delay, fail or change each statement and its reply.

import type { Link, Runner, Statement, Store } from '../../libs/store/index.js';

/** Called for each statement on one of the engine's links. `send` executes it. */
export type Watch = (statement: Statement, values: readonly unknown[], send: () => Promise<unknown[]>) => Promise<unknown[]>;

/** The same store, with links that are watched. */
export function watchLinks(store: Store, watch: Watch): Store {
  const link = (...own: Parameters<Store['link']>): Link => {
    const real = store.link(...own);
    const rows: Runner['rows'] = <Row>(statement: Statement, values: readonly unknown[] = []) =>
      watch(statement, values, () => real.rows(statement, values)) as Promise<Row[]>;
    return { rows, close: (withinMs?: number) => real.close(withinMs) } as unknown as Link;
  };
  return new Proxy(store, { get: (target, key) => (key === 'link' ? link : Reflect.get(target, key, target)) });
}

/** Executes every statement. The replies that `loses` chooses are lost: the caller only learns that the connection broke. */
export function losingReplies(store: Store, loses: (statement: Statement) => boolean): Store {
  return watchLinks(store, async (statement, _values, send) => {
    const rows = await send();
    if (loses(statement)) throw new Error('Connection terminated unexpectedly');
    return rows;
  });
}

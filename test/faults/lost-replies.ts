// A store whose replies get lost: the statement is executed, and the caller hears only that the connection broke.

import type { Link, Runner, Statement, Store } from '../../libs/store/index.js';

/** Wraps the engine's links. `loses` is asked for every statement, after it was executed. */
export function losingReplies(store: Store, loses: (statement: Statement) => boolean): Store {
  const link = (): Link => {
    const real = store.link();
    const rows: Runner['rows'] = async <Row>(statement: Statement, values?: readonly unknown[]) => {
      const result = await real.rows<Row>(statement, values);
      if (loses(statement)) throw new Error('Connection terminated unexpectedly');
      return result;
    };
    return { rows, close: () => real.close() } as unknown as Link;
  };
  return new Proxy(store, { get: (target, key) => (key === 'link' ? link : Reflect.get(target, key, target)) });
}

// Joins a transaction of the caller, and calls back when it is over.

import { EntityManager } from 'typeorm';
import { isSameDatabase, type Runner, readIdentity, type Store } from '../../libs/store/index.js';
import { InvalidArgumentError, RhythmError } from '../errors.js';

/** Runs work inside the transaction of the given manager. */
export async function inCallersTransaction<T>(
  store: Store,
  manager: EntityManager,
  path: string,
  work: (db: Runner) => Promise<T>,
): Promise<T> {
  if (!isManager(manager) || !manager.queryRunner?.isTransactionActive) {
    throw new InvalidArgumentError(
      'RHYTHM_MANAGER_INVALID',
      path,
      `${path} is not the EntityManager of an open transaction. Pass the one that dataSource.transaction(async (manager) => …) passes to you, or leave it out.`,
    );
  }
  try {
    const db = await store.join(manager);
    await checkDatabase(store, manager, path, db);
    return await work(db);
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code !== '42P01' && code !== '3F000') throw error;
    throw new RhythmError(
      'RHYTHM_FOREIGN_TRANSACTION',
      `${path} belongs to a database without the schema "${store.schema}". Rhythm can only join a transaction on its own database.`,
      { cause: error },
    );
  }
}

// The DataSources that are on the store's own database; each is checked once.
const onSameDatabase = new WeakMap<Store, WeakSet<object>>();

// Another database may have this schema too, of another app: a run written there would never start.
async function checkDatabase(store: Store, manager: EntityManager, path: string, db: Runner): Promise<void> {
  const checked = onSameDatabase.get(store) ?? new WeakSet();
  const source: object = manager.connection ?? manager;
  if (checked.has(source)) return;
  const [callers, own] = [await readIdentity(db), await readIdentity(store.db)];
  if (!isSameDatabase(callers, own)) {
    throw new RhythmError(
      'RHYTHM_FOREIGN_TRANSACTION',
      `${path} belongs to the database "${callers.name}", and Rhythm uses "${own.name}"; if the names are equal, the servers differ. Rhythm can only join a transaction on its own database.`,
    );
  }
  onSameDatabase.set(store, checked.add(source));
}

// A hint must not be sent before the commit, and TypeORM does not report the commit of a manager: poll until the transaction is
// over. A lost hint costs one poll interval of the workers, so the polling ends after a while.
const FIRST_POLL_MS = 4;
const LONGEST_POLL_MS = 250;
const GIVE_UP_MS = 60_000;

/** Calls back after the manager's transaction was committed or rolled back. */
export function afterTransaction(manager: EntityManager, then: () => void): void {
  const runner = manager.queryRunner;
  const deadline = Date.now() + GIVE_UP_MS;
  let waitMs = FIRST_POLL_MS;
  const poll = () => {
    if (!runner?.isTransactionActive || runner.isReleased) return then();
    if (Date.now() > deadline) return;
    waitMs = Math.min(waitMs * 1.5, LONGEST_POLL_MS);
    setTimeout(poll, waitMs).unref();
  };
  setTimeout(poll, FIRST_POLL_MS).unref();
}

// Checked by shape too: the app may have its own copy of TypeORM.
function isManager(manager: unknown): boolean {
  return manager instanceof EntityManager || (typeof manager === 'object' && manager !== null && 'queryRunner' in manager);
}

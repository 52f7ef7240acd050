// Joins a caller's own transaction, and does something once it is over.

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
      `${path} is not the EntityManager of an open transaction. Pass the one that dataSource.transaction(async (manager) => …) hands you, or leave it out.`,
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
      `${path} belongs to a database without the schema "${store.schema}". A transaction can only be joined on the database that Rhythm uses.`,
      { cause: error },
    );
  }
}

// The DataSources that were found to be on the store's own database; looked at once each.
const known = new WeakMap<Store, WeakSet<object>>();

// Another database may have our schema too, of another app: a run written there would never move.
async function checkDatabase(store: Store, manager: EntityManager, path: string, db: Runner): Promise<void> {
  const checked = known.get(store) ?? new WeakSet();
  const source: object = manager.connection ?? manager;
  if (checked.has(source)) return;
  const [theirs, ours] = [await readIdentity(db), await readIdentity(store.db)];
  if (!isSameDatabase(theirs, ours)) {
    throw new RhythmError(
      'RHYTHM_FOREIGN_TRANSACTION',
      `${path} belongs to the database "${theirs.name}", and Rhythm uses "${ours.name}"; if the names are equal, the servers are not. A transaction can only be joined on the database that Rhythm uses.`,
    );
  }
  known.set(store, checked.add(source));
}

// A hint must not be sent before the commit, and nobody tells us of it: look until the transaction is over. Losing the
// hint costs one poll interval, so the looking ends after a while.
const LOOK_MS = 4;
const GIVE_UP_MS = 60_000;

/** Calls back after the manager's transaction has ended, either way. */
export function afterTransaction(manager: EntityManager, then: () => void): void {
  const runner = manager.queryRunner;
  const deadline = Date.now() + GIVE_UP_MS;
  let wait = LOOK_MS;
  const look = () => {
    if (!runner?.isTransactionActive || runner.isReleased) return then();
    if (Date.now() > deadline) return;
    wait = Math.min(wait * 1.5, 250);
    setTimeout(look, wait).unref();
  };
  setTimeout(look, LOOK_MS).unref();
}

// By shape, not by class: the app may have its own copy of TypeORM.
function isManager(manager: unknown): boolean {
  return manager instanceof EntityManager || (typeof manager === 'object' && manager !== null && 'queryRunner' in manager);
}

// A store whose worker dies at a statement: nothing of it reaches the database any more, until the spec lets it come back as a
// frozen process does.

import { type ConnectionOptions, Store } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';

/** The statement at which a worker dies, and whether it was executed by then: its reply is lost. */
export interface Death {
  /** The beginning of its name. */
  statement: string;
  when: 'before' | 'after';
  /** Which of the statements of that name, from the moment at which the spec arms it; the first by default. */
  nth?: number;
}

export interface DyingStore {
  readonly store: Store;
  /** From now on the statement is looked for. */
  arm(): void;
  /** Resolves when the worker has died; fails if it never sends the statement. */
  died(): Promise<void>;
  readonly isDead: boolean;
  /** What the worker waits for fails, as on a lost connection, and everything that it sends from now on is executed. */
  comeBack(): void;
}

export async function dyingStore(
  connection: ConnectionOptions & { schema: string },
  { statement, when, nth = 1 }: Death,
): Promise<DyingStore> {
  let isArmed = false;
  let isDead = false;
  let left = nth;
  let comeBack = () => {};
  const back = new Promise<void>((resolve) => {
    comeBack = resolve;
  });
  const silence = async (): Promise<never> => {
    await back;
    throw new Error('Connection terminated unexpectedly');
  };
  const isFatal = (name: string) => isArmed && !isDead && name.startsWith(statement) && --left === 0;
  const store = await Store.open({
    ...connection,
    intercept: async (name, run) => {
      if (isDead) return silence();
      const isLast = isFatal(name);
      if (isLast) isDead = when === 'before';
      if (isDead) return silence();
      const rows = await run();
      if (isLast) isDead = true;
      // The replies that were under way are lost with it.
      return isDead ? silence() : rows;
    },
  });
  return {
    store,
    arm: () => {
      isArmed = true;
    },
    died: () => waitFor(`the worker to die ${when} ${statement}`, () => isDead).then(() => undefined),
    get isDead() {
      return isDead;
    },
    comeBack: () => {
      isArmed = false;
      isDead = false;
      comeBack();
    },
  };
}

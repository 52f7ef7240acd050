// The door of the isolation of flows: a pool of processes that run turns of code that is not trusted.

export type { CheckedTurn } from './check-reply.js';
export { IsolationBusyError, IsolationStartError, TurnKilledError, TurnStoppedError } from './errors.js';
export { type IsolatedProgram, type IsolatedTurn, isolatedProgram } from './isolated-turn.js';
export { type IsolatedTurnHandle, IsolationPool } from './isolation-pool.js';
export { countedHeap, DEFAULT_ISOLATION, type IsolationOptions } from './options.js';

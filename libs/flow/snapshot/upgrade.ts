// Brings a stored snapshot to the current format, one version at a time: old snapshots load forever.

import { FlowSnapshotError } from '../errors.js';
import { type Json, SNAPSHOT_VERSION } from './format.js';

/** Turns a snapshot of one version into the next one's. */
export type Upgrader = (snapshot: Json[]) => Json[];

/** By the version they start from. */
const UPGRADERS: ReadonlyMap<number, Upgrader> = new Map([[1, withFingerprint]]);

/** The first format did not name its program. */
function withFingerprint([, ...rest]: Json[]): Json[] {
  return [2, '', ...rest];
}

export function upgrade(json: Json, upgraders = UPGRADERS, current: number = SNAPSHOT_VERSION): Json[] {
  if (!Array.isArray(json) || typeof json[0] !== 'number') throw new FlowSnapshotError('The text is not a snapshot.');
  let snapshot = json;
  while (snapshot[0] !== current) {
    const version = snapshot[0] as number;
    const upgrader = upgraders.get(version);
    if (Number.isSafeInteger(version) && version > current)
      throw new FlowSnapshotError(`The snapshot has format ${version}; this package reads formats up to ${current}. Upgrade the package.`, {
        code: 'FLOW_NEWER_FORMAT',
      });
    if (!upgrader) throw new FlowSnapshotError(`The snapshot has format ${version}, which never existed.`);
    snapshot = upgrader(snapshot);
    if (!((snapshot[0] as number) > version)) throw new FlowSnapshotError(`The upgrade from format ${version} did not raise it.`);
  }
  return snapshot;
}

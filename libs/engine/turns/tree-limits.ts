// How deep and how large the tree of one root may become. A flow that calls itself would otherwise never end.

import { countDescendants, depthOf, rootOf } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import { reach } from './reach.js';

// A tree is counted after this part of the limit was started in it here, so that small trees are never counted.
const PART = 20;
const MOST_ROOTS = 10_000;

/** The limits of trees of runs, as one worker sees them. */
// There is no counter in the database: every turn of a tree would have to lock it. So the limit is exceeded by up to a twentieth of it
// per worker.
export class TreeLimits {
  /** What this worker has started below each root since it was counted. */
  private readonly started = new Map<string, number>();

  constructor(private readonly parts: WorkerParts) {}

  /** Why a run may not start so many workflows now. A promise only if the tree must be counted. */
  refusal(id: string, workflows: number): TreeRefusal | undefined | Promise<TreeRefusal | undefined> {
    const { maxDepth, maxDescendants } = this.parts.options;
    if (depthOf(id) >= maxDepth) return tooDeep(maxDepth);
    const root = rootOf(id);
    const started = (this.started.get(root) ?? 0) + workflows;
    this.started.delete(root);
    this.started.set(root, started);
    this.forgetOldest();
    return started * PART < maxDescendants ? undefined : this.count(root, maxDescendants);
  }

  private forgetOldest(): void {
    for (const root of this.started.keys()) {
      if (this.started.size <= MOST_ROOTS) return;
      this.started.delete(root);
    }
  }

  private async count(root: string, most: number): Promise<TreeRefusal | undefined> {
    const living = await reach(() => countDescendants(this.parts.store.db, root, most));
    if (living >= most) return tooMany(root, most);
    this.started.set(root, 0);
    return undefined;
  }
}

/** The error of each call that is refused. */
export interface TreeRefusal {
  name: 'WorkflowError';
  code: string;
  message: string;
}

function tooDeep(most: number): TreeRefusal {
  return {
    name: 'WorkflowError',
    code: 'RHYTHM_TOO_DEEP',
    message: `Workflows call one another ${most} levels deep, which is the limit (limits.depth). Call the workflow with { detached: true }, or in a loop.`,
  };
}

function tooMany(root: string, most: number): TreeRefusal {
  return {
    name: 'WorkflowError',
    code: 'RHYTHM_TOO_MANY_DESCENDANTS',
    message: `${most} executions below "${root}" have not ended, which is the limit (limits.descendants). Wait for some of them before starting more.`,
  };
}

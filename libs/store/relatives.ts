// Conditions that find the relatives of an execution: the children of a parent, and all executions of a tree.

import { ENDED } from './ended.js';

// Children normally have the id of their parent as a prefix, `parent:number`. Ids are compared byte by byte and `;` is the
// character after `:`, so everything below an execution is one range of the primary key.

/** Everything below `root`, both expressions for an id. */
export function isBelow(id: string, root: string): string {
  return `${id} > ${root} || ':' AND ${id} < ${root} || ';'`;
}

/** `root` itself and everything below it. */
export function isInTree(id: string, root: string): string {
  return `(${id} = ${root} OR (${id} >= ${root} || ':' AND ${id} < ${root} || ';'))`;
}

/** A child of `parent` that has an id of its own choice; the condition is that of the small index `executions_own_ids`. `e` is the prefix of its columns. */
export function isChildWithOwnId(e: string, parent: string): string {
  return `${e}parent_id = ${parent} AND ${e}parent_id IS NOT NULL AND NOT starts_with(${e}id, ${e}parent_id || ':')`;
}

/** FROM and WHERE of the children of `parent`, as `c`, that have an id of their own, have not ended and will report their end to it. */
export function livingOwnChildren(parent: string): string {
  return `rhythm.executions c WHERE ${isChildWithOwnId('c.', parent)} AND c.parent_call IS NOT NULL AND c.status NOT IN ${ENDED}`;
}

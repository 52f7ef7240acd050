// The children of an execution as a tree.

import type { ExecutionTree } from '../execution/execution.js';
import { paintStatus, took } from './format.js';
import { line, type Painted } from './output.js';
import type { Terminal } from './terminal.js';

// A fan-out of thousands would scroll everything else off the screen.
const MOST = 50;

/** One line per execution below the given one. */
export function showTree(tree: ExecutionTree, terminal: Terminal, indent = ''): Painted[] {
  const shown = tree.children.slice(0, MOST);
  const lines = shown.flatMap((child, index) => {
    const last = index === tree.children.length - 1;
    const spent = took(child);
    const attempts = child.attempts > 1 ? `, ${child.attempts} failed attempts` : '';
    const own = line`${indent}${last ? '└─' : '├─'} ${child.name}  ${paintStatus(child.status, child.status, terminal)}${spent ? ` ${spent}` : ''}${attempts}  ${terminal.colours.dim(child.id)}`;
    return [own, ...showTree(child, terminal, `${indent}${last ? '   ' : '│  '}`)];
  });
  if (tree.children.length > MOST) lines.push(line`${indent}└─ and ${tree.children.length - MOST} more: rhythm list --parent ${tree.id}`);
  return lines;
}

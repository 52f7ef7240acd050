// The children of an execution as a tree.

import type { ExecutionTree } from '../execution/execution.js';
import { paintStatus, took } from './format.js';
import { visible } from './table.js';
import type { Terminal } from './terminal.js';

// A fan-out of thousands would scroll everything else off the screen.
const MOST = 50;

/** One line per execution below the given one. */
export function showTree(tree: ExecutionTree, terminal: Terminal, indent = ''): string[] {
  const shown = tree.children.slice(0, MOST);
  const lines = shown.flatMap((child, index) => {
    const last = index === tree.children.length - 1;
    const spent = took(child);
    const attempts = child.attempts > 1 ? `, ${child.attempts} failed attempts` : '';
    const line = `${indent}${last ? '└─' : '├─'} ${visible(child.name)}  ${paintStatus(child.status, child.status, terminal)}${spent ? ` ${spent}` : ''}${attempts}  ${terminal.colours.dim(visible(child.id))}`;
    return [line, ...showTree(child, terminal, `${indent}${last ? '   ' : '│  '}`)];
  });
  if (tree.children.length > MOST) lines.push(`${indent}└─ and ${tree.children.length - MOST} more: rhythm list --parent ${tree.id}`);
  return lines;
}

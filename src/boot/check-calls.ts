// Checks the tasks that flows call by name against the tasks that exist.

import { namedCalls } from '../../libs/flow/index.js';
import { ConfigurationError } from '../errors.js';
import type { LoadedFlow } from '../flows/flow.registry.js';
import { didYouMean, listNames } from '../nearest.js';
import type { TaskRegistry } from '../tasks/task.registry.js';

/** Throws when a flow names a task that is neither of this process nor external. Every such name is reported. */
export function checkCalls(flows: readonly LoadedFlow[], tasks: TaskRegistry, external: readonly string[]): void {
  if (external.includes('*')) return;
  const known = [...tasks.names(), ...external];
  const problems = flows.flatMap(({ file, source, allow }) => [
    ...namedCalls(source)
      .filter(({ kind, name }) => kind === 'task' && !known.includes(name))
      .map(
        ({ name, line, column }) => `${file}:${line}:${column} calls the task "${name}", which no provider has.${didYouMean(name, known)}`,
      ),
    ...(allow?.tasks ?? [])
      .filter((name) => !known.includes(name))
      .map((name) => `${file}: allow.tasks lists the task "${name}", which no provider has.${didYouMean(name, known)}`),
  ]);
  problems.push(...unknownHandlers(flows, tasks, known));
  if (problems.length === 0) return;
  throw new ConfigurationError(
    `${problems.map((problem) => problem.replace(/\p{Cc}/gu, '\ufffd')).join('\n')}\nTasks of this process: ${listNames(tasks.names())}.${external.length > 0 ? ` External tasks: ${listNames(external)}.` : ''} Mark a provider method with @Task('…'), or list the name in externalTasks if another application runs it.`,
    'RHYTHM_UNKNOWN_TASK',
  );
}

// A workflow that is named as such may be one of another process.
function unknownHandlers(flows: readonly LoadedFlow[], tasks: TaskRegistry, known: readonly string[]): string[] {
  const names = [...known, ...flows.map(({ name }) => name)];
  const declared = [
    ...flows.map(({ file, onFailure }) => ({ place: file, onFailure })),
    ...tasks.all().map(({ place, onFailure }) => ({ place, onFailure })),
  ];
  return declared.flatMap(({ place, onFailure }) => {
    const name = typeof onFailure === 'object' ? ('task' in onFailure ? onFailure.task : undefined) : onFailure;
    if (name === undefined || names.includes(name)) return [];
    const other = typeof onFailure === 'string' ? ` Write { workflow: '${name}' } for a workflow of another process.` : '';
    return [`${place}: onFailure is "${name}", which is no task and no workflow of this process.${didYouMean(name, names)}${other}`];
  });
}

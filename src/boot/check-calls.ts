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
  if (problems.length === 0) return;
  throw new ConfigurationError(
    `${problems.map((problem) => problem.replace(/\p{Cc}/gu, '\ufffd')).join('\n')}\nTasks of this process: ${listNames(tasks.names())}.${external.length > 0 ? ` External tasks: ${listNames(external)}.` : ''} Mark a provider method with @Task('…'), or list the name in externalTasks if another application runs it.`,
    'RHYTHM_UNKNOWN_TASK',
  );
}

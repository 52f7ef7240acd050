// What compiles and is probably not meant: `check` and the boot of an app show it, and nothing is refused for it.

import type { Warning } from './refusal.js';

export const WARNINGS = {
  FLOW_NOT_AWAITED: {
    message: '{name}(…) is not awaited: {effect}',
    advice: 'Write await {name}(…), or void {name}(…) if that is meant.',
    example: 'Task.run("charge")',
    instead: 'void Task.run("charge")',
  },
} satisfies Record<string, Warning>;

// The codes of errors that are thrown or that end a run: what each means and what to do. Refusals of a source have their own tables.

/** An error that is not about a place in a source. */
export interface ErrorCode {
  /** What happened. */
  meaning: string;
  /** What to do about it. */
  advice: string;
}

/** How a run ends that reaches a limit. No flow can catch these, and no `finally` runs. */
export const RUN_ERRORS = {
  FLOW_LIMIT_FUEL: {
    meaning: 'a turn took more than limits.fuelPerTurn',
    advice: 'Do less between two waits, move heavy work to a task, or raise limits.fuelPerTurn.',
  },
  FLOW_LIMIT_HEAP: {
    meaning: 'the values of the run took more than limits.heapBytes',
    advice:
      'Keep less in memory at one time (a hole in an array takes as much as an element), leave large data to tasks, or raise limits.heapBytes.',
  },
  FLOW_LIMIT_CALL_DEPTH: {
    meaning: 'calls were nested deeper than limits.callDepth',
    advice: 'Check that the recursion ends, write it as a loop, or raise limits.callDepth.',
  },
  FLOW_LIMIT_PENDING_EFFECTS: {
    meaning: 'more durable calls were pending at one time than limits.pendingEffects',
    advice: 'Await some calls before you start more, or raise limits.pendingEffects.',
  },
  FLOW_LIMIT_SNAPSHOT: {
    meaning: 'the state of the run took more than limits.snapshotBytes',
    advice: 'Keep less in variables while the run waits, or raise limits.snapshotBytes.',
  },
  FLOW_STUCK: {
    meaning: 'the run waits for a promise that nothing can settle any more: no task, timer or signal is pending',
    advice: 'Check that every promise you await is resolved.',
  },
  FLOW_INTERNAL: {
    meaning: 'the virtual machine failed',
    advice: 'This is a bug in Flow: please report it with the source.',
  },
} satisfies Record<string, ErrorCode>;

/** What the functions of the language throw. */
export const THROWN_ERRORS = {
  FLOW_SYNTAX: {
    meaning: 'the source was refused; the error lists every diagnostic',
    advice: 'Correct the source.',
  },
  FLOW_AMBIGUOUS: {
    meaning: 'the grammar read a source in more than one way',
    advice: 'This is a bug in Flow: please report it with the source.',
  },
  FLOW_SNAPSHOT: {
    meaning: 'a stored snapshot or program is damaged',
    advice: 'Restore it from a backup; a program can be compiled again from its source.',
  },
  FLOW_OTHER_PROGRAM: {
    meaning: 'the snapshot belongs to another program',
    advice: 'Load the program whose fingerprint the snapshot names.',
  },
  FLOW_NEWER_FORMAT: {
    meaning: 'a newer release of this package wrote the snapshot or program',
    advice: 'Upgrade the package.',
  },
  FLOW_RUN_ENDED: {
    meaning: 'turn() was called on a run that has ended',
    advice: 'Start a new run.',
  },
  FLOW_NOT_SUSPENDED: {
    meaning: 'snapshot() was called on a run that is not suspended',
    advice: 'Take it after a turn that returned "suspended".',
  },
} satisfies Record<string, ErrorCode>;

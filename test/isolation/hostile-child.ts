// A process of isolated flows that misbehaves, as one might whose virtual machine had a hole: how, the name of the workflow says.

import { existsSync, writeFileSync, writeSync } from 'node:fs';
import { serveWorker } from '../../libs/isolation/child.js';
import type { Frame } from '../../libs/isolation/frames.js';
import type { TurnReply, TurnRequest } from '../../libs/isolation/messages.js';
import { turnOf } from '../../libs/isolation/serve.js';

type Reply = Frame<TurnReply>;

const kept: unknown[] = [];

function announce(size: number): Buffer {
  const prefix = Buffer.alloc(12);
  prefix.writeUInt32BE(size, 0);
  return prefix;
}

/** What is done in place of the turn; a reply that is returned is sent. `mark` is the input of the run, and empty after its first turn. */
const ACTS: Record<string, (reply: () => Reply, mark: string) => Reply> = {
  spin: () => {
    for (;;);
  },
  'grow-map': () => {
    const map = new Map<number, string>();
    kept.push(map);
    for (let n = 0; ; n++) map.set(n, `entry ${n}`);
  },
  'grow-buffers': () => {
    for (;;) kept.push(Buffer.alloc(8 * 1024 * 1024, 1));
  },
  exit: () => process.exit(3),
  // Holds its thread the first time, after it has left a mark.
  'stuck-once': (reply, mark) => {
    if (mark === '' || existsSync(mark)) return reply();
    writeFileSync(mark, String(process.pid));
    for (;;);
  },
  // Takes a second.
  slow: (reply, mark) => {
    if (mark === '') return reply();
    writeFileSync(mark, String(process.pid));
    const until = performance.now() + 1_000;
    while (performance.now() < until);
    return reply();
  },
  garbage: () => {
    writeSync(1, 'this is no frame, and longer than the beginning of one');
    for (;;);
  },
  huge: () => {
    writeSync(1, announce(2 ** 31));
    for (;;);
  },
  twice: (reply) => {
    writeSync(1, announce(13));
    return reply();
  },
  'other-call': (reply) => changed(reply(), (head) => ({ ...head, effects: [{ kind: 'cancel', id: 99 }] })),
  'not-allowed': (reply) => changed(reply(), (head) => ({ ...head, effects: [{ kind: 'task', id: 1, name: 'danger', options: {} }] })),
};

function changed({ head, texts }: Reply, change: (head: TurnReply) => object): Reply {
  return { head: change(head) as TurnReply, texts };
}

serveWorker((frame: Frame<TurnRequest>, programs) => {
  const { context, inputs } = frame.head;
  const act = ACTS[context.workflow];
  const reply = () => turnOf(frame, programs) as Reply;
  const mark = inputs === undefined ? '' : String(JSON.parse(frame.texts[inputs]));
  return act ? act(reply, mark) : reply();
});

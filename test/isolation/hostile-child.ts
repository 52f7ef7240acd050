// A process of isolated flows that misbehaves, as one might whose virtual machine had a hole: how, the name of the workflow says.

import { writeSync } from 'node:fs';
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

/** What is done in place of the turn; a reply that is returned is sent. */
const ACTS: Record<string, (reply: () => Reply) => Reply> = {
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
  const act = ACTS[frame.head.context.workflow];
  const reply = () => turnOf(frame, programs) as Reply;
  return act ? act(reply) : reply();
});

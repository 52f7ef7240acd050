// The sockets of connections, kept so that a connection can be closed even if its server does not respond.

import { Socket } from 'node:net';
import { within } from './within.js';

/** How long a server may take to end a connection that is being closed. */
export const CLOSE_TIMEOUT_MS = 1_000;

/** The open sockets of one connection, or of a pool. */
export class Sockets {
  private readonly open = new Set<Socket>();

  /** A new socket, as `pg` wants one for each connection. */
  readonly make = (): Socket => {
    const socket = new Socket();
    this.open.add(socket);
    socket.once('close', () => this.open.delete(socket));
    return socket;
  };

  /** Resolves when all are closed. Those still open after this long are destroyed, and what waits on them is rejected. */
  async close(withinMs: number): Promise<void> {
    const closed = [...this.open].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    if (!(await within(Promise.all(closed), withinMs))) this.destroy();
  }

  destroy(): void {
    for (const socket of this.open) socket.destroy();
  }
}

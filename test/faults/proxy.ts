// A connection to the database that a spec can cut and mend: a TCP proxy.

import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** A TCP proxy in front of a PostgreSQL address. */
export class Wire {
  private readonly sockets = new Set<Socket>();
  private down = false;
  private silent = false;
  private delayMs = 0;
  private trap: { text: string; spring(near: Socket, far: Socket): void } | undefined;
  /** Connections that were refused or cut. */
  cuts = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async to(target: string): Promise<Wire> {
    const address = new URL(target);
    let wire: Wire;
    const server = createServer((socket) => wire.join(socket, address));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as { port: number }).port);
    wire = new Wire(server, url.href);
    return wire;
  }

  /** Ends every connection and refuses new ones. */
  cut(): void {
    this.down = true;
    for (const socket of this.sockets) {
      this.cuts++;
      socket.destroy();
    }
  }

  /** Lets nothing more through the present connections, without ending them; new ones work. */
  silence(): void {
    for (const socket of this.sockets) {
      this.cuts++;
      mute(socket);
    }
  }

  /** As `silence`, and new connections are silent too: nothing is refused and nothing comes back. */
  blackHole(): void {
    this.silent = true;
    this.silence();
  }

  /** The next connection that sends this text is cut at that moment, or falls silent; no reply comes back. */
  at(text: string, fault: 'cut' | 'silence'): void {
    this.trap = {
      text,
      spring: (near, far) => {
        this.trap = undefined;
        this.cuts++;
        if (fault === 'cut') near.destroy();
        else for (const socket of [near, far]) mute(socket);
      },
    };
  }

  /** From now on every reply takes this much longer. */
  slow(delayMs: number): void {
    this.delayMs = delayMs;
  }

  mend(): void {
    this.down = false;
    this.silent = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(socket: Socket, address: URL): void {
    if (this.down) {
      this.cuts++;
      return void socket.destroy();
    }
    if (this.silent) {
      this.cuts++;
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => this.sockets.delete(socket));
      return void socket.pause();
    }
    const far = connect(Number(address.port), address.hostname);
    socket.on('data', (bytes: Buffer) => {
      if (this.trap && bytes.includes(this.trap.text)) this.trap.spring(socket, far);
    });
    for (const [one, other] of [
      [socket, far],
      [far, socket],
    ]) {
      this.sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
    socket.pipe(far);
    const delayed = new Transform({
      transform: (bytes, _encoding, done) => void (this.delayMs > 0 ? setTimeout(done, this.delayMs, null, bytes) : done(null, bytes)),
    });
    far.pipe(delayed).pipe(socket);
  }
}

function mute(socket: Socket): void {
  socket.unpipe();
  socket.pause();
}

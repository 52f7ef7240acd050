// Frames, the messages between a worker and the processes that run isolated flows: a small JSON head, and texts beside it.

// total, length of the head, number of texts, length of each text; then the head and the texts. All lengths are bytes, as uint32.
// JSON payloads and snapshots travel as texts: they are neither escaped twice nor parsed by whoever only passes them on.
const PREFIX = 12;
const LENGTH = 4;

/** A message: plain data, and the texts that it refers to by their index. */
export interface Frame<Head = unknown> {
  head: Head;
  texts: string[];
}

/** What a reader accepts. */
export interface FrameLimits {
  /** Of the whole frame. */
  bytes: number;
  /** Of the head: to parse it takes as much time and memory as its content makes it. */
  headBytes: number;
  texts: number;
}

/** What came in is not a frame, or larger than a frame may be. */
export class FrameError extends Error {}

/** Puts a message into a buffer. Throws FrameError when it is larger than the limits. */
export function writeFrame({ head, texts }: Frame, limits: FrameLimits): Buffer {
  const headText = JSON.stringify(head);
  const headBytes = Buffer.byteLength(headText);
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const start = PREFIX + LENGTH * texts.length;
  const total = lengths.reduce((sum, length) => sum + length, start + headBytes);
  if (total > limits.bytes || headBytes > limits.headBytes || texts.length > limits.texts)
    throw new FrameError(`it has ${total} bytes, ${headBytes} of them in its head, and ${texts.length} texts`);
  const frame = Buffer.allocUnsafe(total);
  frame.writeUInt32BE(total, 0);
  frame.writeUInt32BE(headBytes, LENGTH);
  frame.writeUInt32BE(texts.length, 2 * LENGTH);
  lengths.forEach((length, index) => {
    frame.writeUInt32BE(length, PREFIX + LENGTH * index);
  });
  let at = start + frame.write(headText, start);
  for (const text of texts) at += frame.write(text, at);
  return frame;
}

/** Takes frames out of a stream of bytes. */
export class FrameReader {
  private readonly prefix = Buffer.alloc(PREFIX);
  private frame = this.prefix;
  private filled = 0;

  constructor(private readonly limits: FrameLimits) {}

  /** Nothing has arrived since the last frame. */
  get isEmpty(): boolean {
    return this.filled === 0;
  }

  /** Returns the frames that are complete with these bytes. Throws FrameError. */
  read(bytes: Buffer): Frame[] {
    const frames: Frame[] = [];
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.copy(this.frame, this.filled, at);
      at += taken;
      this.filled += taken;
      if (this.filled < this.frame.length) break;
      if (this.frame === this.prefix) this.begin();
      if (this.frame !== this.prefix && this.filled === this.frame.length) {
        frames.push(this.parse());
        this.frame = this.prefix;
        this.filled = 0;
      }
    }
    return frames;
  }

  // The announced size is checked before room is made for it.
  private begin(): void {
    const { bytes, headBytes, texts } = this.limits;
    const [total, head, count] = [0, LENGTH, 2 * LENGTH].map((at) => this.prefix.readUInt32BE(at)) as [number, number, number];
    if (total > bytes) throw new FrameError(`it announces ${total} bytes; ${bytes} are allowed`);
    if (head > headBytes) throw new FrameError(`it announces a head of ${head} bytes; ${headBytes} are allowed`);
    if (count > texts) throw new FrameError(`it announces ${count} texts; ${texts} are allowed`);
    if (total < PREFIX + LENGTH * count + head) throw new FrameError('its lengths contradict each other');
    // Not from the pool of Node, and touched only as far as bytes arrive.
    this.frame = Buffer.allocUnsafeSlow(total);
    this.prefix.copy(this.frame);
  }

  private parse(): Frame {
    const { frame } = this;
    const [headBytes, count] = [frame.readUInt32BE(LENGTH), frame.readUInt32BE(2 * LENGTH)];
    let at = PREFIX + LENGTH * count;
    const headText = frame.toString('utf8', at, at + headBytes);
    at += headBytes;
    const texts: string[] = [];
    for (let index = 0; index < count; index++) {
      const end = at + frame.readUInt32BE(PREFIX + LENGTH * index);
      if (end > frame.length) throw new FrameError('its lengths contradict each other');
      texts.push(frame.toString('utf8', at, end));
      at = end;
    }
    if (at !== frame.length) throw new FrameError('its lengths contradict each other');
    try {
      return { head: JSON.parse(headText), texts };
    } catch {
      throw new FrameError('its head is not JSON');
    }
  }
}

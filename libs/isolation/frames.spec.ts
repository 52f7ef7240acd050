// Frames carry every text as it is, however the bytes arrive, and announce nothing that the reader does not accept.

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Frame, FrameError, FrameReader, writeFrame } from './frames.js';

const LIMITS = { bytes: 100_000, headBytes: 10_000, texts: 100 };
const frames = fc.record({ head: fc.json().map((text) => JSON.parse(text)), texts: fc.array(fc.string({ unit: 'grapheme' })) });

describe('a frame', () => {
  it('is read as it was written, however its bytes are divided', () => {
    fc.assert(
      fc.property(fc.array(frames, { maxLength: 4 }), fc.integer({ min: 1, max: 50 }), (written, step) => {
        const bytes = Buffer.concat(written.map((frame) => writeFrame(frame, LIMITS)));
        const reader = new FrameReader(LIMITS);
        const read: Frame[] = [];
        for (let at = 0; at < bytes.length; at += step) read.push(...reader.read(bytes.subarray(at, at + step)));
        expect(read).toEqual(written);
        expect(reader.isEmpty).toBe(true);
      }),
    );
  });

  it('that is larger than its limits is neither written nor read', () => {
    const frame = { head: 'head', texts: ['a', 'bc'] };
    const bytes = writeFrame(frame, LIMITS);
    for (const limits of [
      { ...LIMITS, bytes: bytes.length - 1 },
      { ...LIMITS, headBytes: 5 },
      { ...LIMITS, texts: 1 },
    ]) {
      expect(() => writeFrame(frame, limits)).toThrow(FrameError);
      expect(() => new FrameReader(limits).read(bytes.subarray(0, 12))).toThrow(FrameError);
    }
  });

  it('of any bytes is a frame or a FrameError', () => {
    const lengths = fc.tuple(fc.nat(200), fc.nat(200), fc.nat(20), fc.uint8Array({ maxLength: 200 }));
    fc.assert(
      fc.property(lengths, ([total, head, texts, rest]) => {
        const prefix = Buffer.alloc(12);
        [total, head, texts].forEach((value, at) => {
          prefix.writeUInt32BE(value, 4 * at);
        });
        try {
          for (const frame of new FrameReader(LIMITS).read(Buffer.concat([prefix, rest]))) expect(frame.texts.length).toBe(texts);
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
    );
  });
});

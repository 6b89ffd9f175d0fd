import { constants, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deflatedFrame, deflateMessage, narrowOffers } from './message-deflate.ts';

const OWN = 'permessage-deflate';
const OWN_WINDOW = 'permessage-deflate; server_max_window_bits=12';

describe('of the offers of a client the first is left that we can do:', () => {
  test.each([
    ['none', undefined, undefined],
    ['of browsers', 'permessage-deflate; client_max_window_bits', OWN],
    ['of Python', 'permessage-deflate; server_max_window_bits=12; client_max_window_bits=12', OWN_WINDOW],
    ['a larger window', 'permessage-deflate;server_max_window_bits="15"', OWN_WINDOW],
    ['a smaller window', 'permessage-deflate; server_max_window_bits=10', undefined],
    ['a smaller window or any', 'permessage-deflate; server_max_window_bits=10, permessage-deflate', OWN],
    ['no context', 'permessage-deflate; server_no_context_takeover; client_no_context_takeover', OWN],
    ['another extension', 'x-webkit-deflate-frame, bbf-usp-protocol', undefined],
    ['unknown parameters', 'permessage-deflate; level=9', undefined],
    ['malformed values', 'permessage-deflate; server_max_window_bits=99', undefined],
    ['malformed text', ';;,=,permessage-deflate;', undefined],
  ])('%s', (_what, offered, left) => {
    const headers: Record<string, string | undefined> = { 'sec-websocket-extensions': offered, host: 'x' };
    narrowOffers({ headers });
    expect([headers['sec-websocket-extensions'], headers.host]).toEqual([left, 'x']);
  });
});

/** The payload of a frame that must be a whole text message, compressed and not masked. */
function payloadOf(frame: Buffer): Buffer {
  expect(frame[0]).toBe(0b1100_0001);
  const short = frame[1] ?? 0;
  const [at, length] =
    short < 126 ? [2, short] : short === 126 ? [4, frame.readUInt16BE(2)] : [10, Number(frame.readBigUInt64BE(2))];
  expect(frame.length).toBe(at + length);
  return frame.subarray(at);
}

/** As a client does, with a window of 4 KiB: a reference to earlier bytes fails. */
const inflated = (frame: Buffer) =>
  inflateRawSync(Buffer.concat([payloadOf(frame), Buffer.from('0000ffff', 'hex')]), {
    windowBits: 12,
    finishFlush: constants.Z_SYNC_FLUSH,
  });

test('a client reads a frame of any length, with what comes before and after it', async () => {
  const content = fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.nat(2_000)).map(([bytes, times]) => {
    return Buffer.concat(Array.from({ length: times }, () => bytes));
  });
  const ends = fc.uint8Array({ maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(content, ends, ends, async (middle, head, tail) => {
      const frame = deflatedFrame(await deflateMessage(middle), head, tail);
      expect(inflated(frame).equals(Buffer.concat([head, middle, tail]))).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test.each([0, 110, 120, 125, 126, 65_400, 65_520, 65_535, 65_536, 70_000])(
  'a payload of about %s bytes has its length in the right form',
  async (length) => {
    const random = Buffer.from(Array.from({ length }, (_, index) => (index * 7_919 + (index >> 3) * 104_729) & 0xff));
    for (const head of [0, 1, 2, 3, 4, 5, 6].map((count) => Buffer.alloc(count, 'h')))
      expect(inflated(deflatedFrame(await deflateMessage(random), head, Buffer.alloc(0))).length).toBe(
        head.length + length,
      );
  },
);

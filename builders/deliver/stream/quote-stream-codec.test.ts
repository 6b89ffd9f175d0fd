import { describe, expect, test } from 'vitest';
import { updateOf } from '../../../test/pamm/sample-updates.ts';
import type { Hex } from '../../submit/quote-update.ts';
import { decodeResponse, encodeUpdate } from './quote-stream-codec.ts';

/** Frames as the builders' wire format has them, put together here byte by byte. */

const VARINT = 0;
const BYTES = 2;

/** Hex of a protobuf field: a number as a varint, hex as bytes with their length. */
function field(number: number, value: bigint | Hex): string {
  if (typeof value === 'bigint') return varint(BigInt((number << 3) | VARINT)) + varint(value);
  const digits = value.slice(2);
  return varint(BigInt((number << 3) | BYTES)) + varint(BigInt(digits.length / 2)) + digits;
}

function varint(value: bigint): string {
  const rest = value >> 7n;
  const byte = Number(value & 0x7fn) | (rest > 0n ? 0x80 : 0);
  return byte.toString(16).padStart(2, '0') + (rest > 0n ? varint(rest) : '');
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const frame = (...fields: string[]) => Buffer.from(fields.join(''), 'hex');
const text = (words: string): Hex => `0x${Buffer.from(words).toString('hex')}`;

const UUID: Hex = `0x${'0f'.repeat(16)}`;
const MAX_UINT64 = 2n ** 64n - 1n;

describe('an update', () => {
  test('has every field under its number, integers up to 2^64 - 1', () => {
    const update = updateOf({
      tx: '0x02f8',
      blockNumber: MAX_UINT64,
      replacementUuid: UUID,
      replacementSeqNumber: 9_007_199_254_740_993n,
      disableCrossRegionSharing: true,
      assetPairs: [`0x${'11'.repeat(40)}`, `0x${'22'.repeat(40)}`],
      quoteAddress: `0x${'33'.repeat(20)}`,
      poolAddresses: [`0x${'44'.repeat(20)}`, `0x${'55'.repeat(20)}`],
    });
    expect(hexOf(encodeUpdate(update))).toBe(
      [
        field(1, '0x02f8'),
        field(2, MAX_UINT64),
        field(3, UUID),
        field(4, 9_007_199_254_740_993n),
        field(5, 1n),
        field(6, `0x${'11'.repeat(40)}`),
        field(6, `0x${'22'.repeat(40)}`),
        field(7, `0x${'33'.repeat(20)}`),
        field(8, `0x${'44'.repeat(20)}`),
        field(8, `0x${'55'.repeat(20)}`),
      ].join(''),
    );
  });

  test('leaves default values out: a cancel has no transaction at all', () => {
    const cancel = updateOf({ tx: '0x', blockNumber: 0n, replacementUuid: UUID, replacementSeqNumber: 7n });
    expect(hexOf(encodeUpdate(cancel))).toBe(field(3, UUID) + field(4, 7n));
  });
});

describe('an acknowledgement', () => {
  test('is matched by uuid and sequence number, its nanoseconds exact, unknown fields skipped', () => {
    const response = frame(
      field(9, '0xdeadbeef'),
      field(1, UUID),
      field(2, MAX_UINT64),
      field(3, 1_800_000_000_123_456_789n),
      field(10, 5n),
    );
    expect(decodeResponse(response)).toEqual({
      key: `${UUID}:18446744073709551615`,
      answer: { accepted: true, timestampNs: 1_800_000_000_123_456_789n },
    });
  });

  test('without a time has none, and with an error is none', () => {
    const key = `${UUID}:1`;
    expect(decodeResponse(frame(field(1, UUID), field(2, 1n)))).toEqual({ key, answer: { accepted: true } });
    const refused = frame(field(1, UUID), field(2, 1n), field(3, 5n), field(4, text('invalid nonce')));
    expect(decodeResponse(refused)).toEqual({ key, answer: { accepted: false, error: 'invalid nonce' } });
    const long = frame(field(1, UUID), field(2, 1n), field(4, text('x'.repeat(10_000))));
    expect(decodeResponse(long).answer).toEqual({ accepted: false, error: 'x'.repeat(500) });
  });

  test.each([
    ['a length beyond the end', '0aff00'],
    ['an unfinished varint', '10ff'],
  ])('is none with %s', (_name, bytes) => {
    expect(() => decodeResponse(frame(bytes))).toThrow();
  });
});

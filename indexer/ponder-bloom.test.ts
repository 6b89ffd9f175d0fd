import { type Hex, hexToBytes, keccak256, numberToHex, pad } from 'viem';
import { expect, test } from 'vitest';

/** More than Ponder remembers the places of. */
const VALUES = Array.from({ length: 10_100 }, (_, index) => pad(numberToHex(index), { size: index % 2 ? 20 : 32 }));

/** The three bits of a value. */
function bitsOf(value: Hex): bigint {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = hexToBytes(keccak256(value));
  return [a * 256 + b, c * 256 + d, e * 256 + f].reduce((bits, place) => bits | (1n << BigInt(place % 2_048)), 0n);
}

test('a bloom has the values that were put into it, whatever was asked about it and others before', async () => {
  const file = new URL('sync-realtime/bloom.js', import.meta.resolve('ponder')).href;
  const { isInBloom } = (await import(file)) as { isInBloom: (bloom: Hex, value: Hex) => boolean };
  const bits = VALUES.map(bitsOf);
  const bloomOf = (step: number) => bits.filter((_, index) => index % step === 0).reduce((a, b) => a | b);
  for (const bloom of [bloomOf(140), bloomOf(220), bloomOf(140)]) {
    const found = VALUES.filter((value) => isInBloom(numberToHex(bloom, { size: 256 }), value));
    expect(found).toEqual(VALUES.filter((_, index) => (bloom & (bits[index] ?? 0n)) === bits[index]));
  }
});

import { encodeAbiParameters, encodeErrorResult, type Hex, parseAbi } from 'viem';
import { describe, expect, it, test } from 'vitest';
import { Q64 } from '../../fixed-point.ts';
import { simulatedAmounts } from '../../pool-errors.ts';
import { packedSimulation } from './simulation.ts';

const TRADER = '0x00000000000000000000000000000000000000aa';
const quote = { bidX64: Q64, askX64: Q64 + 2n, referenceX64: Q64 + 1n };
const errors = parseAbi(['error SimulateSwap(int256 amount0Delta, int256 amount1Delta)']);
const simulated = encodeErrorResult({ abi: errors, errorName: 'SimulateSwap', args: [-5n, 7n] });

describe('calldata', () => {
  const types = [
    { type: 'address' },
    { type: 'bool' },
    { type: 'int128' },
    ...Array.from({ length: 4 }, () => ({ type: 'uint128' })),
    { type: 'bytes' },
  ] as const;
  const args = (zeroForOne: boolean, limit: bigint) =>
    [TRADER, zeroForOne, -9n, limit, quote.bidX64, quote.askX64, quote.referenceX64, '0x'] as const;

  it.each([
    [true, 0n],
    [false, (1n << 128n) - 1n],
  ])('of a sale: %s is 0x2cd85904 without a sender, 0x658b6cb7 with one, and has no limit', (zeroForOne, limit) => {
    const order = { zeroForOne, amountSpecified: -9n, quote, trader: TRADER } as const;
    const words = args(zeroForOne, limit);
    const body = (full: readonly unknown[], list: readonly { type: string }[]) =>
      encodeAbiParameters(list, full as never).slice(2);
    expect(packedSimulation.encode('noSender', order)).toBe(`0x2cd85904${body(words, types)}`);
    expect(packedSimulation.encode('sender', order)).toBe(
      `0x658b6cb7${body([TRADER, ...words], [{ type: 'address' }, ...types])}`,
    );
  });
});

test('amounts are signed; without all of them a simulation says nothing', () => {
  expect(simulatedAmounts({ success: false, data: simulated })).toEqual({ amount0Delta: -5n, amount1Delta: 7n });
  expect(simulatedAmounts({ success: false, data: simulated.slice(0, 100) as Hex })).toBeNull();
  expect(simulatedAmounts({ success: false, data: '0x12345678' })).toBeNull();
});

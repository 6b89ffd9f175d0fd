import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BinSwapped, Swapped } from '../../protocol/pool-events.ts';
import type { PoolStateRow } from '../schema/pools.ts';
import { NO_ACTIVITY } from './activity.ts';
import { isZeroForOne, settleSwap } from './swap.ts';

const address = '0x00000000000000000000000000000000000000aa';

/** Of a flat pool everything is known. */
type FlatState = PoolStateRow & Record<'total0Scaled' | 'notionalFee0Scaled' | 'notionalFee1Scaled', bigint>;

const idle: FlatState = {
  chainId: 1,
  pool: address,
  pauseLevel: 0,
  curBinIdx: 0,
  curPosInBin: 5n,
  curBinDistFromProvidedPriceE6: -10,
  spreadFeeE6: 200_000,
  notionalFeeE8: 250_000,
  bidAskRefAsymmetryX8: null,
  total0Scaled: 1_000_000n,
  total1Scaled: 2_000_000n,
  notionalFee0Scaled: 7n,
  notionalFee1Scaled: 11n,
  balance0Raw: 100n,
  balance1Raw: 200n,
  activityTimestamp: null,
  lowestBin: -2,
  binBalances0Scaled: '{0,700,500,0,0,0,0,0}',
  binBalances1Scaled: '{300,200,100,0,0,0,0,0}',
  binSwapDeltas0: null,
  binSwapDeltas1: null,
  binShares: '{1,1,1,1,1,1,1,1}',
  binLowerDistsE6: '{-900,-510,77,80,90,95,99,120}',
  activityTotals: NO_ACTIVITY,
  lastSwapTransactionHash: null,
  blockNumber: 1,
  blockTimestamp: 1,
};

const binSwap = (bin: number, delta0Scaled: bigint, delta1Scaled: bigint, lpFeeScaled: bigint): BinSwapped => ({
  kind: 'binSwapped',
  bin,
  delta0Scaled,
  delta1Scaled,
  lpFeeScaled,
});

const swapped = (changes: Partial<Swapped>): Swapped => ({
  kind: 'swapped',
  sender: address,
  recipient: address,
  exactInput: true,
  amount0Delta: 0n,
  amount1Delta: 0n,
  curBin: 0,
  posInBin: 0n,
  protocolFeeScaled: 3n,
  ...changes,
});

function replay(bins: readonly BinSwapped[], end: Swapped, start = idle) {
  const settled = settleSwap(start, bins, end);
  return { state: { ...start, ...settled.state } as FlatState, fees: settled.fees };
}

// 250,000 / 1e8 is a quarter of a percent.
test.each([
  ['exact input of token0 pays it in token1', true, [[1_000n, -4_000n]], 0n, [0n, 10n]],
  ['exact input of token1 pays it in token0', true, [[-4_400n, 1_000n]], 0n, [11n, 0n]],
  ['exact output for token0 pays it in token0', false, [[4_000n, -1_000n]], 0n, [10n, 0n]],
  ['exact output for token1 pays it in token1', false, [[-1_000n, 4_000n]], 0n, [0n, 10n]],
  ['exact output leaves the LP part of the bin fee out', false, [[4_399n, -1_000n]], 399n, [10n, 0n]],
  ['exact input counts all of the output', true, [[1_000n, -4_000n]], 399n, [0n, 10n]],
  ['fractions are dropped', true, [[1_000n, -4_399n]], 0n, [0n, 10n]],
  [
    'bins are added up before the one rounding',
    true,
    [
      [10n, -250n],
      [10n, -250n],
    ],
    0n,
    [0n, 1n],
  ],
  ['input for no output pays nothing', true, [[9n, 0n]], 0n, [0n, 0n]],
  ['a swap that moved nothing pays nothing', true, [], 0n, [0n, 0n]],
] as const)('notional fee: %s', (_, exactInput, deltas, lpFee, [fee0, fee1]) => {
  const bins = deltas.map(([d0, d1], index) => binSwap(index, d0, d1, index === 0 ? lpFee : 0n));
  const { state, fees } = replay(bins, swapped({ exactInput }));
  expect([state.notionalFee0Scaled - 7n, state.notionalFee1Scaled - 11n]).toEqual([fee0, fee1]);
  expect([fees.notionalFee0Scaled, fees.notionalFee1Scaled]).toEqual([fee0, fee1]);
});

test('a swap moves totals, balances, bins and cursor', () => {
  const bins = [binSwap(0, 60n, -50n, 4n), binSwap(-1, 40n, -30n, 2n)];
  const end = swapped({ amount0Delta: 101n, amount1Delta: -80n, curBin: -1, posInBin: 9n });
  const { state, fees } = replay(bins, end);
  expect(state).toMatchObject({
    total0Scaled: 1_000_100n,
    total1Scaled: 1_999_920n,
    balance0Raw: 201n,
    balance1Raw: 120n,
    curBinIdx: -1,
    curPosInBin: 9n,
    curBinDistFromProvidedPriceE6: -510,
    binBalances0Scaled: '{0,740,560,0,0,0,0,0}',
    binBalances1Scaled: '{300,170,50,0,0,0,0,0}',
  });
  expect(fees).toEqual({
    zeroForOne: true,
    lpFeeScaled: 6n,
    protocolFeeScaled: 3n,
    notionalFee0Scaled: 0n,
    notionalFee1Scaled: 0n,
  });
});

test.each([-3, 6])('a cursor in bin %i, which the pool does not have, is refused', (curBin) => {
  expect(() => replay([], swapped({ curBin }))).toThrow(RangeError);
  expect(() => replay([binSwap(curBin, 1n, -1n, 0n)], swapped({}))).toThrow(RangeError);
});

test('the fee is the largest integer not above its share, on one side only, and swaps do not disturb each other', () => {
  const amount = fc.bigInt({ min: 1n, max: 1n << 110n });
  fc.assert(
    fc.property(
      fc.array(fc.record({ input: amount, output: amount, lpFee: fc.nat() }), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 0, max: 16_777_215 }),
      (parts, zeroForOne, exactInput, notionalFeeE8) => {
        const bins = parts.map(({ input, output, lpFee }, bin) => {
          const paid = input + BigInt(lpFee);
          return zeroForOne ? binSwap(bin, paid, -output, BigInt(lpFee)) : binSwap(bin, -output, paid, BigInt(lpFee));
        });
        const start = { ...idle, notionalFeeE8 };
        const once = replay(bins, swapped({ exactInput }), start);
        const twice = replay(bins, swapped({ exactInput }), once.state);
        const base = parts.reduce((sum, part) => sum + (exactInput ? part.output : part.input), 0n);
        const fee = once.fees.notionalFee0Scaled + once.fees.notionalFee1Scaled;
        const rest = base * BigInt(notionalFeeE8) - fee * 100_000_000n;
        expect(rest >= 0n && rest < 100_000_000n).toBe(true);
        const paidIn0 = zeroForOne !== exactInput;
        expect(once.state.notionalFee0Scaled - 7n).toBe(paidIn0 ? fee : 0n);
        expect(once.state.notionalFee1Scaled - 11n).toBe(paidIn0 ? 0n : fee);
        expect(twice.fees).toEqual(once.fees);
        expect(twice.state.total0Scaled - once.state.total0Scaled).toBe(once.state.total0Scaled - start.total0Scaled);
      },
    ),
  );
});

test.each([
  [5n, -3n, true],
  [-3n, 5n, false],
  [5n, 0n, true],
  [0n, 5n, false],
  [0n, 0n, null],
])('direction of raw amounts %s, %s is %s', (amount0Delta, amount1Delta, expected) => {
  expect(isZeroForOne(swapped({ amount0Delta, amount1Delta }))).toBe(expected);
});

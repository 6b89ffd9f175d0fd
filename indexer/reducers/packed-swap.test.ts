import { expect, test } from 'vitest';
import type { PackedBinSwapped, PackedSwapped } from '../../protocol/pool-events.ts';
import type { PoolStateRow } from '../schema/pools.ts';
import { MissingRowError } from '../schema/required.ts';
import { NO_PACKED_ACTIVITY } from './activity.ts';
import { settlePackedSwap } from './packed-swap.ts';

const address = '0x00000000000000000000000000000000000000aa';

const idle: PoolStateRow = {
  chainId: 1,
  pool: address,
  pauseLevel: 0,
  spreadFeeE6: 1,
  notionalFeeE8: 2,
  bidAskRefAsymmetryX8: null,
  curBinIdx: null,
  curPosInBin: null,
  curBinDistFromProvidedPriceE6: null,
  total0Scaled: null,
  total1Scaled: null,
  notionalFee0Scaled: null,
  notionalFee1Scaled: null,
  balance0Raw: 100n,
  balance1Raw: 200n,
  lowestBin: -1,
  binBalances0Scaled: '{7,8,9}',
  binBalances1Scaled: '{4,5,6}',
  binShares: '{1,1,1}',
  binSwapDeltas0: '{0,0,3}',
  binSwapDeltas1: '{0,0,-2}',
  binLowerDistsE6: '{-10,0,10}',
  activityTimestamp: null,
  activityTotals: NO_PACKED_ACTIVITY,
  lastSwapTransactionHash: null,
  blockNumber: 1,
  blockTimestamp: 1,
};

const part = (bin: number, delta0: bigint, delta1: bigint): PackedBinSwapped => ({
  kind: 'packedBinSwapped',
  bin,
  delta0,
  delta1,
  fees: { high: 5n, low: 6n },
});

const event: PackedSwapped = {
  kind: 'packedSwapped',
  sender: address,
  recipient: address,
  amount0Delta: 11n,
  amount1Delta: -9n,
  details: 1n,
  platformFees: { high: 0n, low: 0n },
};

test('a packed swap moves balances and sums of words, and nothing that it does not report', () => {
  const { state, binFees } = settlePackedSwap(idle, [part(0, 4n, -3n), part(1, 6n, -5n)], event);
  expect(state).toEqual({
    balance0Raw: 111n,
    balance1Raw: 191n,
    binSwapDeltas0: '{0,4,9}',
    binSwapDeltas1: '{0,-3,-7}',
  });
  expect(binFees).toEqual({ high: 10n, low: 12n });
});

test('a bin that the pool does not have is refused, and so is a pool that is not packed', () => {
  expect(() => settlePackedSwap(idle, [part(2, 1n, -1n)], event)).toThrow(RangeError);
  expect(() => settlePackedSwap({ ...idle, binSwapDeltas0: null }, [], event)).toThrow(MissingRowError);
});

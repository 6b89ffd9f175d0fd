import type { BinLiquidityChange, PoolCreation, PoolEventOf } from '../../protocol/pool-events.ts';
import { addToList, setListEntry } from '../schema/number-list.ts';
import type { PoolRow, PoolStateRow } from '../schema/pools.ts';

/*
 * The bins of a pool are stored as lists, from the lowest bin upwards. Functions that change a list throw a RangeError
 * for a bin that the pool does not have.
 */

/** A pool starts in this bin, at its lower edge. */
export const FIRST_BIN = 0;

/**
 * Signed distance of each bin's lower edge from the mid price, in millionths. The distances never change: all bins move
 * together with the price.
 */
export function lowerDistances({ bins, curBinDistE6 }: Pick<PoolCreation, 'bins' | 'curBinDistE6'>): number[] {
  const below = bins.filter(({ bin }) => bin < FIRST_BIN).reduce((sum, { lengthE6 }) => sum + lengthE6, 0);
  let next = curBinDistE6 - below;
  return bins.map(({ lengthE6 }) => {
    const lowerDistE6 = next;
    next += lengthE6;
    return lowerDistE6;
  });
}

/** Balances of the bins after a swap or a liquidity change. */
export function moveBins(
  state: Pick<PoolStateRow, 'lowestBin' | 'binBalances0Scaled' | 'binBalances1Scaled'>,
  moves: readonly Pick<BinLiquidityChange, 'bin' | 'delta0Scaled' | 'delta1Scaled'>[],
) {
  const { lowestBin, binBalances0Scaled, binBalances1Scaled } = state;
  const moves0 = moves.map(({ bin, delta0Scaled }) => [bin - lowestBin, delta0Scaled] as const);
  const moves1 = moves.map(({ bin, delta1Scaled }) => [bin - lowestBin, delta1Scaled] as const);
  return {
    binBalances0Scaled: addToList(binBalances0Scaled, moves0),
    binBalances1Scaled: addToList(binBalances1Scaled, moves1),
  };
}

/** Shares of the bins after a liquidity change. */
export function changeShares(
  { lowestBin, binShares }: Pick<PoolStateRow, 'lowestBin' | 'binShares'>,
  changes: readonly Pick<BinLiquidityChange, 'bin' | 'sharesDelta'>[],
): string {
  return addToList(
    binShares,
    changes.map(({ bin, sharesDelta }) => [bin - lowestBin, sharesDelta]),
  );
}

/** Additional fees of all bins after an event has set those of one bin. */
export function changeBinFees(
  row: Pick<PoolRow, 'lowestBin' | 'binAddFeesBuyE6' | 'binAddFeesSellE6'>,
  { bin, addFeeBuyE6, addFeeSellE6 }: PoolEventOf<'binFeesUpdated'>,
) {
  return {
    binAddFeesBuyE6: setListEntry(row.binAddFeesBuyE6, bin - row.lowestBin, addFeeBuyE6),
    binAddFeesSellE6: setListEntry(row.binAddFeesSellE6, bin - row.lowestBin, addFeeSellE6),
  };
}

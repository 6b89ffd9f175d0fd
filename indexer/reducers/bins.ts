import { NumberList } from './number-list.ts';

/** What a swap or a change of liquidity did to a bin. Scaled, positive into the pool. */
interface BinMove {
  readonly bin: number;
  readonly delta0Scaled: bigint;
  readonly delta1Scaled: bigint;
}

interface BinBalances {
  readonly lowestBin: number;
  readonly binBalances0Scaled: string;
  readonly binBalances1Scaled: string;
}

/**
 * Balances of a pool's bins, listed from the lowest upwards, after some were moved.
 *
 * @throws RangeError for a bin that the pool does not have
 */
export function moveBins(
  { lowestBin, binBalances0Scaled, binBalances1Scaled }: BinBalances,
  moves: readonly BinMove[],
) {
  const balances0 = new NumberList(binBalances0Scaled);
  const balances1 = new NumberList(binBalances1Scaled);
  for (const { bin, delta0Scaled, delta1Scaled } of moves) {
    balances0.add(bin - lowestBin, delta0Scaled);
    balances1.add(bin - lowestBin, delta1Scaled);
  }
  return { binBalances0Scaled: balances0.toString(), binBalances1Scaled: balances1.toString() };
}

/**
 * Shares of a pool's bins, listed from the lowest upwards, after a change of liquidity.
 *
 * @throws RangeError for a bin that the pool does not have
 */
export function changeShares(
  { lowestBin, binShares }: { readonly lowestBin: number; readonly binShares: string },
  changes: readonly { readonly bin: number; readonly sharesDelta: bigint }[],
): string {
  const shares = new NumberList(binShares);
  for (const { bin, sharesDelta } of changes) shares.add(bin - lowestBin, sharesDelta);
  return shares.toString();
}

import fc from 'fast-check';
import { seedAddress } from '../../test/harness/seed-pools.ts';

export const CHAIN = 5;
export const POOLS = [seedAddress(1), seedAddress(2)];
/** A whole number of 4 hours. */
export const START = 1_800_000_000;
/** Amounts are signed, positive into the pool. */
export interface Swap {
  readonly pool: string;
  readonly ts: number;
  readonly block: number;
  readonly logIndex: number;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

export interface Bar {
  readonly start: number;
  readonly prices: readonly (string | null)[];
  readonly volumes: readonly string[];
  readonly swaps: number;
}

const abs = (value: bigint) => (value < 0n ? -value : value);

/** Bars by hand, from all swaps, one after another. */
export function barsOf(swaps: readonly Swap[], of: string, secs: number): Bar[] {
  const ordered = swaps.filter((swap) => swap.pool === of).sort((a, b) => a.block - b.block || a.logIndex - b.logIndex);
  return [...Map.groupBy(ordered, ({ ts }) => ts - (ts % secs))].map(([start, group]) => {
    const priced = group.filter(({ amount0, amount1 }) => amount0 !== 0n && amount1 !== 0n);
    let [high, low] = [priced[0], priced[0]];
    for (const swap of priced) {
      const isAbove = (other: Swap) => abs(swap.amount1) * abs(other.amount0) > abs(other.amount1) * abs(swap.amount0);
      const isBelow = (other: Swap) => abs(swap.amount1) * abs(other.amount0) < abs(other.amount1) * abs(swap.amount0);
      if (high && isAbove(high)) high = swap;
      if (low && isBelow(low)) low = swap;
    }
    const pair = (swap: Swap | undefined) => (swap ? `${abs(swap.amount0)}:${abs(swap.amount1)}` : null);
    const sum = (amount: (swap: Swap) => bigint) =>
      String(group.reduce((total, swap) => total + abs(amount(swap)), 0n));
    return {
      start,
      prices: [priced[0], high, low, priced.at(-1)].map(pair),
      volumes: [sum(({ amount0 }) => amount0), sum(({ amount1 }) => amount1)],
      swaps: group.length,
    };
  });
}

/** Few values, so that prices are often equal, and some that no float can hold. */
const amount = fc.oneof(fc.bigInt(0n, 4n), fc.bigInt(2n ** 126n - 3n, 2n ** 126n));
/** Swaps of both pools in the order of blocks. */
export const anySwaps = fc
  .array(
    fc.record({
      pool: fc.constantFrom(...POOLS),
      amount0: amount,
      amount1: amount,
      isSale: fc.boolean(),
      wait: fc.nat(90),
      sameBlock: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((steps) => {
    let [ts, block, logIndex] = [START, 10, 0];
    return steps.map(({ pool: of, amount0, amount1, isSale, wait, sameBlock }): Swap => {
      if (!sameBlock) [ts, block] = [ts + wait, block + 1];
      logIndex++;
      return {
        pool: of,
        ts,
        block,
        logIndex,
        amount0: isSale ? amount0 : -amount0,
        amount1: isSale ? -amount1 : amount1,
      };
    });
  });

/** A swap of the first pool. */
export const swapAt = (ts: number, block: number, amount0: bigint, amount1: bigint): Swap => ({
  pool: POOLS[0] ?? '',
  ts,
  block,
  logIndex: 0,
  amount0,
  amount1,
});

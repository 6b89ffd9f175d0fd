import type { BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { GroupAnswer } from '../../protocol/bounded-calls/run-bounded-calls.ts';
import type { PoolSide } from '../../protocol/curve.ts';
import type { DepthLevel } from '../../protocol/depth.ts';
import { divCeil, minBigint } from '../../protocol/fixed-point.ts';
import { simulatedSwap } from '../../protocol/guards/simulated-swap.ts';
import { filledSwap } from '../../protocol/pool-errors.ts';
import { type SideGas, sideGas } from '../../protocol/swap-gas.ts';
import { guardPlan, type ServedPool } from '../pools/pool-directory.ts';
import type { DepthSnapshot } from '../types.ts';

/** Gas of swaps of a pool. Null: not measured yet, or no such swap fills. */
export interface PoolGas {
  readonly bids: SideGas | null;
  readonly asks: SideGas | null;
}

/** What is measured of a pool: its curve, and how far it trades. */
export type MeasuredPool = Pick<DepthSnapshot, 'pool' | 'depth' | 'curve'>;

export const UNKNOWN: PoolGas = { bids: null, asks: null };

/** The swaps of a side that are simulated: one of a part of it, and one of all that it offers. */
export interface SideSwaps {
  readonly kind: keyof PoolGas;
  readonly side: PoolSide;
  readonly bins: number;
  readonly calls: readonly [part: BoundedCall, whole: BoundedCall];
}

/** Gas of a pool by the answers to the call for its prices, and to the swaps of its sides. */
export function gasOf(sides: readonly SideSwaps[], { results: [prices, ...swaps] }: GroupAnswer): PoolGas {
  const gas = sides.map(({ kind, side, bins }, index): [keyof PoolGas, SideGas | null] => {
    const [part, whole] = swaps.slice(2 * index, 2 * index + 2);
    if (!prices || !whole || !filledSwap(side, whole)) return [kind, null];
    // A part may be too little for a swap.
    const { gasUsed } = part && filledSwap(side, part) ? part : whole;
    return [kind, sideGas({ part: gasUsed, whole: whole.gasUsed, prices: prices.gasUsed }, bins)];
  });
  return { ...UNKNOWN, ...Object.fromEntries(gas) };
}

/** A hundredth of a side stands for usual swaps. */
const PART = 100n;

/** What is simulated of the sides that trade. */
export function sideSwaps({ pool, depth, curve }: MeasuredPool): SideSwaps[] {
  const sideOf = (kind: keyof PoolGas, side: PoolSide | undefined, levels: readonly DepthLevel[]): SideSwaps[] => {
    const end = levels.at(-1)?.cumulativeInput ?? 0n;
    if (!side || end === 0n) return [];
    const calls = [divCeil(end, PART), end].map((input) => swapCall(pool, side, minBigint(input, side.maxInput)));
    return [{ kind, side, bins: levels.length, calls: calls as [BoundedCall, BoundedCall] }];
  };
  return [...sideOf('bids', curve?.bids, depth.bids), ...sideOf('asks', curve?.asks, depth.asks)];
}

/** A simulated swap of a pool. @param amount raw units: positive = exact input, negative = exact output */
export const swapCall = (pool: ServedPool, side: PoolSide, amount: bigint): BoundedCall =>
  simulatedSwap(pool.address, side, amount, guardPlan(pool).kind === 'probed' ? 'unknown' : 'known');

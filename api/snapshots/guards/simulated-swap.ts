import { type BoundedCall, CALLER } from '../../../protocol/bounded-calls/bounded-calls.ts';
import type { PoolSide } from '../../../protocol/curve.ts';
import type { ServedPool } from '../pool-directory.ts';

/** One direction of a guarded pool. */
export interface GuardedSide {
  readonly pool: ServedPool;
  readonly side: PoolSide;
}

const SELECTOR_BYTES = 4;

/** Gas of a simulated swap with a stop loss, measured: a base and so much for each bin that it touches. */
const KNOWN_GUARDS = { likely: { base: 130_000, perBin: 55_000 }, limit: { base: 400_000, perBin: 110_000 } };
/** An unknown extension may take several times as much. One that takes more counts as refusing. */
const UNKNOWN_GUARDS = { likely: KNOWN_GUARDS.likely, limit: { base: 3_000_000, perBin: 130_000 } };
const MOST_GAS = { known: 40_000_000, unknown: 15_000_000 };

/** Simulates one exact input (raw units, at least 1) of a side. */
export function simulatedSwap({ pool, side }: GuardedSide, amount: bigint, guards: 'known' | 'unknown'): BoundedCall {
  const { likely, limit } = guards === 'known' ? KNOWN_GUARDS : UNKNOWN_GUARDS;
  const bins = binsTouched(side, amount);
  return {
    target: pool.address,
    data: side.simulation(amount, CALLER),
    likelyGas: likely.base + bins * likely.perBin,
    gasLimit: Math.min(limit.base + bins * limit.perBin, MOST_GAS[guards]),
    keptBytes: SELECTOR_BYTES,
  };
}

/** Bins that an input walks through, or is likely to. */
function binsTouched({ levels }: PoolSide, amount: bigint): number {
  const end = levels.findIndex(({ cumulativeInput }) => cumulativeInput >= amount);
  return end < 0 ? levels.length : Math.min(end + 2, levels.length);
}

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
const LIKELY_GAS = { base: 130_000, perBin: 55_000 };
/** Gas after which a simulated swap counts as refused: an unknown extension may take several times as much. */
const GAS_LIMITS = {
  known: { base: 400_000, perBin: 110_000, most: 40_000_000 },
  unknown: { base: 3_000_000, perBin: 130_000, most: 15_000_000 },
};

/** Gas that a simulated swap of this input (raw units) is likely to take. */
export const likelyGasOf = (side: PoolSide, input: bigint): number =>
  LIKELY_GAS.base + binsTouched(side, input) * LIKELY_GAS.perBin;

/** Simulates one exact input (raw units, at least 1) of a side. */
export function simulatedSwap({ pool, side }: GuardedSide, amount: bigint, guards: 'known' | 'unknown'): BoundedCall {
  const { base, perBin, most } = GAS_LIMITS[guards];
  return {
    target: pool.address,
    data: side.simulation(amount, CALLER),
    likelyGas: likelyGasOf(side, amount),
    gasLimit: Math.min(base + binsTouched(side, amount) * perBin, most),
    keptBytes: SELECTOR_BYTES,
  };
}

/** Bins that an input walks through, or is likely to. */
function binsTouched({ levels }: PoolSide, amount: bigint): number {
  const end = levels.findIndex(({ cumulativeInput }) => cumulativeInput >= amount);
  return end < 0 ? levels.length : Math.min(end + 2, levels.length);
}

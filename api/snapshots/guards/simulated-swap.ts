import { toFunctionSelector } from 'viem';
import { type BoundedCall, CALLER, type CallResult } from '../../../protocol/bounded-calls/bounded-calls.ts';
import { MAX_INT128 } from '../../../protocol/fixed-point.ts';
import type { SideCurve } from '../../../protocol/layouts/flat/side-curve.ts';
import type { PoolCurve } from '../curve-snapshot.ts';
import type { ServedPool } from '../pool-directory.ts';

/** One direction of a guarded pool. */
export interface GuardedSide {
  readonly pool: ServedPool;
  readonly curve: PoolCurve;
  readonly side: SideCurve;
}

/**
 * How a simulated exact input ended: it `fills`; a velocity guard refused the price, whatever the amount; something else
 * `refused` it; or it ended in `silence`, as when the gas ran out.
 */
export type SwapOutcome = 'fills' | 'velocity' | 'refused' | 'silence';

const SIMULATED = toFunctionSelector('SimulateSwap(int256,int256)');
const VELOCITY_EXCEEDED = toFunctionSelector('PriceVelocityExceeded(uint256,uint256)');
const SELECTOR_BYTES = 4;

/** Gas of a simulated swap with a stop loss, measured: a base and so much for each bin that it touches. */
const KNOWN_GUARDS = { likely: { base: 130_000, perBin: 55_000 }, limit: { base: 400_000, perBin: 110_000 } };
/** An unknown extension may take several times as much. One that takes more counts as refusing. */
const UNKNOWN_GUARDS = { likely: KNOWN_GUARDS.likely, limit: { base: 3_000_000, perBin: 130_000 } };
const MOST_GAS = { known: 40_000_000, unknown: 15_000_000 };

/** The largest exact input (raw units) that one swap can carry. */
export function carriableInput({ side: { priced, zeroForOne } }: GuardedSide): bigint {
  const { multiplier0, multiplier1 } = priced.state.scale;
  return MAX_INT128 / (zeroForOne ? multiplier0 : multiplier1);
}

/** Simulates one exact input (raw units, at least 1) of a side. */
export function simulatedSwap(
  { pool, curve: { duty, quote }, side }: GuardedSide,
  amountSpecified: bigint,
  guards: 'known' | 'unknown',
): BoundedCall {
  const { likely, limit } = guards === 'known' ? KNOWN_GUARDS : UNKNOWN_GUARDS;
  const bins = binsTouched(side, amountSpecified);
  return {
    target: pool.address,
    data: duty.encodeSimulation({ zeroForOne: side.zeroForOne, amountSpecified }, quote, CALLER),
    likelyGas: likely.base + bins * likely.perBin,
    gasLimit: Math.min(limit.base + bins * limit.perBin, MOST_GAS[guards]),
    keptBytes: SELECTOR_BYTES,
  };
}

/** Reads the result of a simulated swap, which always reverts. */
export function swapOutcome({ success, data }: CallResult): SwapOutcome {
  if (success || data === '0x') return 'silence';
  if (data === SIMULATED) return 'fills';
  return data === VELOCITY_EXCEEDED ? 'velocity' : 'refused';
}

/** Bins that an input walks through, or is likely to. */
function binsTouched({ levels }: SideCurve, amount: bigint): number {
  const end = levels.findIndex(({ cumulativeInput }) => cumulativeInput >= amount);
  return end < 0 ? levels.length : Math.min(end + 2, levels.length);
}

import type { Address, Hex } from 'viem';
import { type BoundedCall, CALLER, type CallResult } from '../bounded-calls/bounded-calls.ts';
import type { PoolSide } from '../curve.ts';

/** Calldata and result of a swap that was simulated at a block. */
export interface SimulatedSwap {
  readonly data: Hex;
  readonly result: CallResult;
}

/** A selector and the two amounts of a swap. */
const KEPT_BYTES = 68;

/** Measured gas of a simulated swap with a stop loss: a base, and an amount for each bin that it touches. */
const LIKELY_GAS = { base: 130_000, perBin: 55_000 };
/** Gas after which the swap counts as refused. The side gives the base for known guards; unknown ones may take more. */
const GAS_LIMITS = {
  known: { perBin: 110_000, most: 40_000_000 },
  unknown: { base: 3_000_000, perBin: 130_000, most: 15_000_000 },
};

/** Gas that a simulated swap of this amount is likely to take. */
export const likelyGasOf = (side: PoolSide, amount: bigint): number =>
  LIKELY_GAS.base + binsTouched(side, amount) * LIKELY_GAS.perBin;

/**
 * Simulates one swap of a side of a pool with guards.
 *
 * @param amount raw units: positive = exact input, negative = exact output
 */
export function simulatedSwap(
  pool: Address,
  side: PoolSide,
  amount: bigint,
  guards: keyof typeof GAS_LIMITS,
): BoundedCall {
  const { perBin, most } = GAS_LIMITS[guards];
  const base = guards === 'known' ? side.swapGasLimit : GAS_LIMITS.unknown.base;
  return {
    target: pool,
    data: side.simulation(amount, CALLER),
    likelyGas: likelyGasOf(side, amount),
    gasLimit: Math.min(base + binsTouched(side, amount) * perBin, most),
    keptBytes: KEPT_BYTES,
  };
}

/** Number of bins that an amount is likely to touch. */
function binsTouched({ levels }: PoolSide, amount: bigint): number {
  const end = levels.findIndex(({ cumulativeInput, cumulativeOutput }) =>
    amount < 0n ? cumulativeOutput >= -amount : cumulativeInput >= amount,
  );
  return end < 0 ? levels.length : Math.min(end + 2, levels.length);
}

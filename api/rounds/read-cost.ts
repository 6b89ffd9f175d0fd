import { CHUNK_GAS } from '../../chain/contract-calls.ts';
import type { BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import { GAS_PER_CALL, OVERHEAD_GAS } from '../../protocol/bounded-calls/run-bounded-calls.ts';
import { priceCalls, quoteCall, storageCall } from '../snapshots/pool-calls.ts';
import { guardPlan, type ServedPool } from '../snapshots/pool-directory.ts';

/** What reading a pool at one block takes, in gas: its part of calls that pools share, and calls of its own. */
export interface ReadCost {
  /** Of the calls for storage, for prices, and for guards. */
  readonly shared: readonly [storage: number, prices: number, guards: number];
  readonly own: readonly number[];
}

/** Most gas of one shared call: the smaller of what the two kinds of calls are packed by. */
export const SHARED_CALL_GAS = Math.min(CHUNK_GAS, GAS_PER_CALL);

/** A simulated swap with a guard, and each bin that it walks: as `protocol/guards` takes them. */
const SWAP = { gas: 130_000, perBin: 55_000 };
/** State of a stop loss, read before the swaps. */
const GUARD_STATE_GAS = 12_000;
/** One swap to confirm the end of a side, and one more beyond it. */
const SWAPS = 4;

const priceCosts = new WeakMap<ServedPool, readonly [number, number]>();

/**
 * Estimated as the reader packs its calls, rounded up.
 *
 * @param isSimulated whether its curve takes a simulation of every level
 */
export function readCost(pool: ServedPool, withDepth: boolean, isSimulated: boolean): ReadCost {
  const [storage, prices] = priceCost(pool);
  if (!withDepth) return { shared: [storage, prices, 0], own: [] };
  const { kind } = guardPlan(pool);
  const own = [...(isSimulated ? [SHARED_CALL_GAS] : []), ...(kind === 'probed' ? [CHUNK_GAS, CHUNK_GAS] : [])];
  return { shared: [storage, prices, kind === 'evaluated' ? guardGas(pool) : 0], own };
}

function priceCost(pool: ServedPool): readonly [number, number] {
  const known = priceCosts.get(pool);
  if (known) return known;
  const likely = ({ likelyGas }: BoundedCall) => likelyGas + OVERHEAD_GAS;
  const prices = priceCalls(pool).reduce((sum, call) => sum + likely(call), 0);
  const cost = [storageCall(pool).gas + quoteCall(pool).gas, prices] as const;
  priceCosts.set(pool, cost);
  return cost;
}

function guardGas({ immutables: { lowestBin, highestBin } }: ServedPool): number {
  const walked = SWAP.gas + ((highestBin - lowestBin + 1) / 2) * SWAP.perBin;
  return Math.min(GUARD_STATE_GAS + SWAPS * walked, SHARED_CALL_GAS);
}

import { CHUNK_GAS } from '../../chain/contract-calls.ts';
import type { BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import { GAS_PER_CALL, OVERHEAD_GAS } from '../../protocol/bounded-calls/run-bounded-calls.ts';
import { eventLayout } from '../../protocol/layouts/event-layouts.ts';
import type { CurveReport } from '../observability/curve-metrics.ts';
import { priceCalls, quoteCall, stopLossCalls, storageCall } from '../snapshots/pool-calls.ts';
import { guardPlan, type ServedPool } from '../snapshots/pool-directory.ts';
import type { Spend } from './tiered-budget.ts';

/**
 * Phases of a read in which pools share calls. The curve of a pool whose fees are not public takes up to three, and its
 * guards come after those of other pools.
 */
export type Phase = 'storage' | 'prices' | 'form' | 'trial' | 'fit' | GuardPhase;
type GuardPhase = 'guardState' | 'guardSwaps' | 'lateGuardState' | 'lateGuardSwaps';

/** What reading a pool at one block takes. */
export interface ReadCost {
  /** Gas of its part of the calls that pools share, by phase. */
  readonly shared: Readonly<Partial<Record<Phase, number>>>;
  /** Calls of its own. */
  readonly own: Spend;
}

/** How the curve of a pool became known when it was read last; undefined before, and where fees are public. */
export type KnownRank = CurveReport['rank'] | undefined;

/** Most gas of one shared call: the smaller of what the two kinds of calls are packed by. */
export const SHARED_CALL_GAS = Math.min(CHUNK_GAS, GAS_PER_CALL);

/** A simulated swap with a guard, and each bin that it walks: as `protocol/guards` takes them. */
const SWAP = { gas: 130_000 + OVERHEAD_GAS, perBin: 55_000 };
/** One swap to confirm the end of a side, and one more beyond it. */
const GUARD_SWAPS = 4;
/** Swaps of both sides that show whether a fit or a formula holds, and how swaps are simulated. */
const CURVE_SWAPS = { fit: 12, form: 2 };
const NOTHING: Spend = { calls: 0, gas: 0 };
/** One call a side, of a walk through its bins or of points where guards are probed. */
const BOTH_SIDES: Spend = { calls: 2, gas: 2 * CHUNK_GAS };
/** The code of a pool and of its provider, once a formula agreed. */
const CODE: Spend = { calls: 2, gas: 0 };

/** What of a cost never changes. */
interface FixedCost {
  readonly prices: { readonly storage: number; readonly prices: number };
  /** State of the guards, and swaps through them; null where they are not evaluated. */
  readonly guards: { readonly state: number; readonly swaps: number } | null;
}

const fixedCosts = new WeakMap<ServedPool, FixedCost>();

/** Whether every level of a pool is simulated. */
export const isSimulated = (rank: KnownRank): boolean => rank === 'simulation' || rank === 'none';

/** Estimated as the reader packs its calls, rounded up. A pool that contradicts what is known of it takes more. */
export function readCost(pool: ServedPool, withDepth: boolean, rank: KnownRank): ReadCost {
  const { prices, guards } = fixedCost(pool);
  if (!withDepth) return { shared: prices, own: NOTHING };
  if (isSimulated(rank)) {
    const alone = guards ? { calls: 2, gas: guards.state + guards.swaps } : NOTHING;
    return { shared: prices, own: sum(BOTH_SIDES, alone) };
  }
  const probes = guardPlan(pool).kind === 'probed' ? BOTH_SIDES : NOTHING;
  if (rank === 'formula' || eventLayout(pool.layout).tellsSwaps) {
    const own = guards ? { guardState: guards.state, guardSwaps: guards.swaps } : {};
    return { shared: { ...prices, ...own }, own: probes };
  }
  const curve = curveCost(pool, rank === 'fit');
  const late = guards ? { lateGuardState: guards.state, lateGuardSwaps: guards.swaps } : {};
  return { shared: { ...prices, ...curve, ...late }, own: rank === 'fit' ? probes : sum(probes, CODE) };
}

function fixedCost(pool: ServedPool): FixedCost {
  const known = fixedCosts.get(pool);
  if (known) return known;
  const likely = ({ likelyGas }: BoundedCall) => likelyGas + OVERHEAD_GAS;
  const prices = priceCalls(pool).reduce((total, call) => total + likely(call), 0);
  const cost = {
    prices: { storage: storageCall(pool).gas + quoteCall(pool).gas, prices },
    guards: guardPlan(pool).kind === 'evaluated' ? guardCost(pool) : null,
  };
  fixedCosts.set(pool, cost);
  return cost;
}

function guardCost(pool: ServedPool) {
  const state = stopLossCalls(pool).reduce((total, { gas }) => total + gas, 0);
  return { state, swaps: Math.min(GUARD_SWAPS * swapGas(pool), SHARED_CALL_GAS) };
}

function curveCost(pool: ServedPool, isFitted: boolean): Partial<Record<Phase, number>> {
  const swaps = (count: number) => Math.min(count * swapGas(pool), SHARED_CALL_GAS);
  const fit = swaps(CURVE_SWAPS.fit);
  return isFitted ? { fit } : { form: swaps(CURVE_SWAPS.form), trial: fit, fit };
}

/** Of a simulated swap through half of the bins. */
const swapGas = ({ immutables: { lowestBin, highestBin } }: ServedPool): number =>
  SWAP.gas + ((highestBin - lowestBin + 1) / 2) * SWAP.perBin;

const sum = (one: Spend, other: Spend): Spend => ({ calls: one.calls + other.calls, gas: one.gas + other.gas });

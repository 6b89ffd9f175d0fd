import type { Address } from 'viem';
import type { BoundedCall, CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { CurveKnowledge } from '../../protocol/curve-search.ts';
import { claimSide, type SideClaim } from '../../protocol/guards/side-claim.ts';
import { simulatedSwap } from '../../protocol/guards/simulated-swap.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { StopLossState } from '../../protocol/stop-loss/stop-loss.ts';
import type { OtherAnswers } from '../calls/answers-digest.ts';
import { decodeStopLoss } from '../calls/pool-calls.ts';
import { guardPlan, type ServedPool } from '../pools/pool-directory.ts';
import type { GuardedCurve } from './unknown-guard-prober.ts';

/** What the state of a pool's guards says. */
export interface PoolClaim {
  readonly stopLoss: StopLossState | null;
  /** Bids, then asks. */
  readonly sides: readonly SideClaim[];
}

/**
 * Derives what the state of a pool's guards says; null where its stop loss does not answer as one.
 *
 * @param answers of the stop loss; none for a pool without one
 * @param timestamp of the block that contracts see, Unix seconds
 */
export function poolClaim(
  { pool, curve: { bids, asks } }: Pick<GuardedCurve, 'pool' | 'curve'>,
  answers: readonly CallResult[],
  timestamp: bigint,
): PoolClaim | null {
  const stopLoss = answers.length > 0 ? decodeStopLoss(pool, answers, timestamp) : null;
  if (answers.length > 0 && !stopLoss) return null;
  return { stopLoss, sides: [bids, asks].map((side) => claimSide(side, pool.stopLossMark, stopLoss)) };
}

/** The simulated swaps that confirm a claim, in the order of its sides and their inputs. */
export const claimSwaps = (pool: Address, claim: PoolClaim | null): BoundedCall[] =>
  (claim?.sides ?? []).flatMap(({ side, inputs }) =>
    inputs.map((amount) => simulatedSwap(pool, side, amount, 'known')),
  );

/**
 * The swaps that will confirm the guards of a pool, if its prices are those that its answers lead to; none where only
 * the chain knows its curve.
 *
 * @param known what searches found out about the pool before
 */
export function expectedSwaps(
  pool: ServedPool,
  { storage, quote, stopLoss = [] }: OtherAnswers,
  known: CurveKnowledge | undefined,
  timestamp: bigint,
): BoundedCall[] {
  if (guardPlan(pool).kind !== 'evaluated' || !storage?.success) return [];
  try {
    const curve = layoutAdapter(pool.layout).state.decode(pool.immutables, storage.data).expectedCurve(quote, known);
    return claimSwaps(pool.address, curve && poolClaim({ pool, curve }, stopLoss, timestamp));
  } catch {
    // `decodePool` reports it.
    return [];
  }
}

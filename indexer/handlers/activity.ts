import type { ActivityGain } from '../../protocol/pool-totals.ts';
import { poolActivity } from '../schema/activity.ts';
import { addToList } from '../schema/number-list.ts';
import { type PoolStateRow, poolState } from '../schema/pools.ts';
import { required } from '../schema/required.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';

/** What a log changes in the state of its pool, and what it adds to the pool's totals. */
interface PoolAdvance {
  readonly changes: Partial<PoolStateRow>;
  readonly gain: ActivityGain;
}

/**
 * Changes the state of a pool and adds to its running totals, as of the second of a log. The state also holds the
 * newest totals, so that a log reads only one row, once.
 */
export async function advancePool<T extends PoolAdvance>(
  { db }: HandlerContext,
  place: LogPlace,
  pool: PoolStateRow['pool'],
  advance: (state: PoolStateRow) => T,
): Promise<T> {
  const { chainId, blockTimestamp } = place;
  const stamp = stampOf(place);
  const steps: { done: T; newest: number | null; totals: string }[] = [];
  await db.update(poolState, { chainId, pool }).set((state) => {
    const done = advance(state);
    const totals = addToList(state.activityTotals, done.gain);
    steps.push({ done, newest: state.activityTimestamp, totals });
    return { activityTimestamp: blockTimestamp, activityTotals: totals, ...stamp, ...done.changes };
  });
  const { done, newest, totals } = required(steps[0] ?? null, 'state of pool', pool);
  const key = { chainId, pool, blockTimestamp };
  if (newest === blockTimestamp) await db.update(poolActivity, key).set({ blockNumber: place.blockNumber, totals });
  else await db.insert(poolActivity).values({ chainId, pool, totals, ...stamp });
  return done;
}

import type { ActivityGain } from '../reducers/activity.ts';
import { addToList } from '../reducers/number-list.ts';
import { poolActivity } from '../schema/activity.ts';
import { type PoolStateRow, poolState } from '../schema/pools.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';
import { required } from './required.ts';

/** What a log does to its pool. */
interface PoolAdvance {
  readonly changes: Partial<PoolStateRow>;
  readonly gain: ActivityGain;
}

/**
 * Changes a pool's state and carries its running totals on to the second of a log. The newest totals are in the state
 * too, so that one row is read, once.
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

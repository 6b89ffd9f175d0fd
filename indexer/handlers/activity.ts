import { type Activity, NO_ACTIVITY } from '../reducers/activity.ts';
import type { PoolStateRow } from '../reducers/swap.ts';
import { poolActivity } from '../schema/activity.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';
import { required } from './required.ts';

/**
 * Carries a pool's running totals on to the second of a log. The pool's state knows the newest row, so that no key is
 * looked up in vain; the caller sets its `activityTimestamp` to that second.
 */
export async function advanceActivity(
  { db }: HandlerContext,
  place: LogPlace,
  { pool, activityTimestamp }: Pick<PoolStateRow, 'pool' | 'activityTimestamp'>,
  count: (totals: Activity) => Activity,
): Promise<void> {
  const { chainId, blockTimestamp } = place;
  const keyAt = (timestamp: number) => ({ chainId, pool, blockTimestamp: timestamp });
  const newest =
    activityTimestamp === null
      ? NO_ACTIVITY
      : required(await db.find(poolActivity, keyAt(activityTimestamp)), 'activity of pool', pool);
  const row = { ...count(newest), ...keyAt(blockTimestamp), ...stampOf(place) };
  if (activityTimestamp === blockTimestamp) await db.update(poolActivity, keyAt(blockTimestamp)).set(row);
  else await db.insert(poolActivity).values(row);
}

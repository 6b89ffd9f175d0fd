import { type ActivityGain, addActivity } from '../reducers/activity.ts';
import type { PoolStateRow } from '../reducers/swap.ts';
import { poolActivity } from '../schema/activity.ts';
import { type HandlerContext, type LogPlace, stampOf } from './context.ts';
import { required } from './required.ts';

/**
 * Carries a pool's running totals on to the second of a log.
 *
 * @param newest second of the pool's newest totals, from its state, so that no key is looked up in vain; null: none yet
 */
export async function advanceActivity(
  { db }: HandlerContext,
  place: LogPlace,
  pool: PoolStateRow['pool'],
  newest: PoolStateRow['activityTimestamp'],
  gain: ActivityGain,
): Promise<void> {
  const { chainId, blockTimestamp } = place;
  const keyAt = (timestamp: number) => ({ chainId, pool, blockTimestamp: timestamp });
  const totals =
    newest === null ? null : required(await db.find(poolActivity, keyAt(newest)), 'activity of pool', pool);
  const sums = addActivity(totals, gain);
  if (newest === blockTimestamp)
    await db.update(poolActivity, keyAt(blockTimestamp)).set({ blockNumber: place.blockNumber, ...sums });
  else await db.insert(poolActivity).values({ chainId, pool, ...sums, ...stampOf(place) });
}

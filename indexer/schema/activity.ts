import { hex, onchainTable } from 'ponder';
import { chainId, keyOf, list, stamp } from './columns.ts';

/**
 * Running totals of a pool since its creation. There is one row per second with a swap, a liquidity change or a fee
 * collection, and it includes all logs of that second. The activity in a window is the difference of two rows.
 */
export const poolActivity = onchainTable(
  'pool_activity',
  {
    chainId: chainId(),
    pool: hex().notNull(),
    ...stamp(),
    /** In the order of `TOTAL` (`protocol/pool-totals.ts`); `read_model.pool_activity` shows them as columns. */
    totals: list('numeric(78)'),
  },
  keyOf('chainId', 'pool', 'blockTimestamp'),
);

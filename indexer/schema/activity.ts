import { hex, onchainTable } from 'ponder';
import { chainId, keyOf, list, stamp } from './columns.ts';

/**
 * Running totals of a pool since its creation: one row per second in which it traded, took or gave liquidity, or paid
 * out fees, with all logs of that second counted. What happened in a window is the difference of two rows.
 */
export const poolActivity = onchainTable(
  'pool_activity',
  {
    chainId: chainId(),
    pool: hex().notNull(),
    ...stamp(),
    /** In the order of `ACTIVITY_TOTALS`; `read_model.pool_activity` shows them as columns. */
    totals: list('numeric(78)'),
  },
  keyOf('chainId', 'pool', 'blockTimestamp'),
);

import { bigint, hex, int8, onchainTable, primaryKey } from 'ponder';
import { chainId, stamp } from './columns.ts';

const count = () => int8({ mode: 'number' }).notNull();
const amount = () => bigint().notNull();

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
    swapCount: count(),
    /** Transactions with at least one swap of the pool. */
    swapTxCount: count(),
    liquidityAddCount: count(),
    liquidityRemoveCount: count(),
    /** One per non-zero raw amount of a swap, liquidity change or fee collection. */
    transferCount: count(),
    swapIn0Raw: amount(),
    swapIn1Raw: amount(),
    swapOut0Raw: amount(),
    swapOut1Raw: amount(),
    liquidityIn0Raw: amount(),
    liquidityIn1Raw: amount(),
    liquidityOut0Raw: amount(),
    liquidityOut1Raw: amount(),
    /** Paid out to protocol and admin. */
    feesCollected0Raw: amount(),
    feesCollected1Raw: amount(),
    /** Bin fees, by the token of the input: the liquidity providers' part, and that of protocol and admin. */
    lpFee0Scaled: amount(),
    lpFee1Scaled: amount(),
    protocolFee0Scaled: amount(),
    protocolFee1Scaled: amount(),
    notionalFee0Scaled: amount(),
    notionalFee1Scaled: amount(),
  },
  (table) => ({
    key: primaryKey({ columns: [table.chainId, table.pool, table.blockTimestamp] }),
  }),
);

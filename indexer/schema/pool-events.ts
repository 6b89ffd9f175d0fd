import { bigint, boolean, hex, integer, onchainTable, text } from 'ponder';
import { byPlaceAndPool, keyOf, list, logPlace } from './columns.ts';

/**
 * Every swap. Fees are scaled: the bin fee in the input token, the notional fee in the output token of an exact input and
 * in the input token of an exact output. Of packed pools what only the words report is null.
 */
export const swap = onchainTable(
  'swap',
  {
    ...logPlace(),
    pool: hex().notNull(),
    sender: hex().notNull(),
    recipient: hex().notNull(),
    /** True when token0 went in; null when nothing moved. */
    zeroForOne: boolean(),
    exactInput: boolean(),
    amount0Raw: bigint().notNull(),
    amount1Raw: bigint().notNull(),
    lpFeeScaled: bigint(),
    protocolFeeScaled: bigint(),
    notionalFeeScaled: bigint(),
    /** Cursor after the swap. */
    curBinIdx: integer(),
    curPosInBin: bigint(),
    /** Words of packed swaps, the second by halves; null of others. */
    details: bigint(),
    platformFeesHigh: bigint(),
    platformFeesLow: bigint(),
    /**
     * The parts that bins had in it, as the pool logged them before the swap; of each: log index, bin, change of the bin's
     * two balances, and the fee that stayed in it, scaled. Of packed swaps: log index, bin, the halves of `binDeltas` and
     * those of `fees`. `read_model.bin_swap` and `read_model.packed_bin_swap` show them as rows.
     */
    parts: list('numeric(78)'),
  },
  byPlaceAndPool,
);

/** Every deposit and withdrawal. Raw amounts are derived as the pool rounds: up going in, down going out. */
export const liquidityChange = onchainTable(
  'liquidity_change',
  {
    ...logPlace(),
    pool: hex().notNull(),
    /** `added` or `removed`. */
    direction: text().notNull(),
    provider: hex().notNull(),
    salt: bigint().notNull(),
    delta0Scaled: bigint().notNull(),
    delta1Scaled: bigint().notNull(),
    amount0Raw: bigint().notNull(),
    amount1Raw: bigint().notNull(),
  },
  byPlaceAndPool,
);

export const liquidityChangeBin = onchainTable(
  'liquidity_change_bin',
  {
    ...logPlace(),
    pool: hex().notNull(),
    binIdx: integer().notNull(),
    delta0Scaled: bigint().notNull(),
    delta1Scaled: bigint().notNull(),
    sharesDelta: bigint().notNull(),
  },
  keyOf('chainId', 'blockNumber', 'logIndex', 'binIdx'),
);

/** Fees paid out of a pool. */
export const feeCollection = onchainTable(
  'fee_collection',
  {
    ...logPlace(),
    pool: hex().notNull(),
    amount0ToProtocolRaw: bigint().notNull(),
    amount1ToProtocolRaw: bigint().notNull(),
    amount0ToAdminRaw: bigint().notNull(),
    amount1ToAdminRaw: bigint().notNull(),
  },
  byPlaceAndPool,
);

import { bigint, boolean, hex, integer, onchainTable, text } from 'ponder';
import { byPlaceAndPool, keyOf, list, logPlace, sentBy } from './columns.ts';

/**
 * Every swap. Fees are scaled. The bin fee is in the input token; the notional fee is in the output token of an exact
 * input, and in the input token of an exact output. For packed pools, columns that only the words could fill are null.
 */
export const swap = onchainTable(
  'swap',
  {
    ...logPlace(),
    pool: hex().notNull(),
    sender: hex().notNull(),
    recipient: hex().notNull(),
    ...sentBy(),
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
    /** The two words of a packed swap, the second as two halves; null for flat pools. */
    details: bigint(),
    platformFeesHigh: bigint(),
    platformFeesLow: bigint(),
    /**
     * One entry per `BinSwapped` log of the swap, in order. Flat pools: log index, bin, changes of the bin's two
     * balances, and the fee that stayed in the bin, scaled. Packed pools: log index, bin, the halves of `binDeltas` and
     * those of `fees`. `read_model.bin_swap` and `read_model.packed_bin_swap` show the entries as rows.
     */
    parts: list('numeric(78)'),
  },
  byPlaceAndPool,
);

/** Every deposit and withdrawal. Raw amounts are rounded as the pool rounds them: up into the pool, down out of it. */
export const liquidityChange = onchainTable(
  'liquidity_change',
  {
    ...logPlace(),
    pool: hex().notNull(),
    /** `added` or `removed`. */
    direction: text().notNull(),
    provider: hex().notNull(),
    ...sentBy(),
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

/** Fees that a pool paid out. */
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

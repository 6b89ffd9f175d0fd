import { type Address, formatUnits, type Hex } from 'viem';
import { absBigint, maxBigint } from '../../protocol/fixed-point.ts';
import { forEachYielding } from '../../runtime/for-each-yielding.ts';
import type { SiteEvent } from './messages.ts';

/** A row of `select-events.sql`: amounts are raw, signed, positive into the pool. */
export type EventRow = {
  readonly blockNumber: number;
  /** Unix seconds. */
  readonly blockTimestamp: number;
  readonly logIndex: number;
  readonly pool: Address;
  readonly kind: 'swap' | 'join' | 'exit';
  readonly transactionHash: Hex;
  /** Place of the transaction in its block. */
  readonly transactionIndex: number;
  readonly transactionFrom: Address;
  readonly amount0: string;
  readonly amount1: string;
  /** Balances by events after the event. */
  readonly reserve0: string;
  readonly reserve1: string;
  /** Rows of the range, with those that sites do not get. */
  readonly total: number;
};

/** A row of `select-pools.sql`. */
export type SitePool = {
  readonly address: Address;
  readonly factory: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly decimals0: number | null;
  readonly decimals1: number | null;
  readonly creator: Address;
  readonly createdBlockNumber: number;
  readonly createdTimestamp: number;
  readonly createdTransactionHash: Hex;
  readonly leftOut: 'delisted' | 'differs' | 'token' | 'symbol' | 'decimals' | null;
};

/** Why an event is left out: for its pool, or its amounts. `deployment`: the pool's is not enabled. */
export type LeftOut = NonNullable<SitePool['leftOut']> | 'deployment' | 'amount';

/** Digits of a price that count, at least. */
const PRICE_DIGITS = 24;

/**
 * Writes events as sites read them, in the order of the rows. What would stop a site's indexing is left out. Others are
 * served meanwhile: a range may have tens of thousands of rows.
 *
 * @param pools by address; events of a pool that is missing are left out
 */
export async function writeSiteEvents(
  rows: readonly EventRow[],
  pools: ReadonlyMap<Address, SitePool>,
): Promise<{ readonly json: string; readonly leftOut: ReadonlyMap<LeftOut, number> }> {
  const leftOut = new Map<LeftOut, number>();
  const events: string[] = [];
  await forEachYielding(rows, (row) => {
    const event = toSiteEvent(row, pools.get(row.pool));
    if (typeof event === 'object') events.push(JSON.stringify(event));
    else leftOut.set(event, (leftOut.get(event) ?? 0) + 1);
  });
  return { json: `{"events":[${events.join(',')}]}`, leftOut };
}

function toSiteEvent(row: EventRow, pool: SitePool | undefined): SiteEvent | LeftOut {
  if (!pool) return 'deployment';
  const { decimals0, decimals1, leftOut } = pool;
  if (leftOut !== null) return leftOut;
  if (decimals0 === null || decimals1 === null) return 'decimals';
  const decimals = [decimals0, decimals1] as const;
  const moved = row.kind === 'swap' ? swapFields(row, decimals) : liquidityFields(row, decimals);
  if (moved === null) return 'amount';
  return {
    block: { blockNumber: row.blockNumber, blockTimestamp: row.blockTimestamp },
    txnId: row.transactionHash,
    txnIndex: row.transactionIndex,
    eventIndex: row.logIndex,
    maker: row.transactionFrom,
    pairId: row.pool,
    ...moved,
    // A collection of fees pays out tokens that came without an event.
    reserves: {
      asset0: formatUnits(maxBigint(BigInt(row.reserve0), 0n), decimals0),
      asset1: formatUnits(maxBigint(BigInt(row.reserve1), 0n), decimals1),
    },
  };
}

type Decimals = readonly [decimals0: number, decimals1: number];

/** The fields of a swap; null unless it moved one token in and the other out. */
function swapFields(row: EventRow, [decimals0, decimals1]: Decimals) {
  const [amount0, amount1] = [BigInt(row.amount0), BigInt(row.amount1)];
  const [size0, size1] = [absBigint(amount0), absBigint(amount1)];
  const eventType = 'swap' as const;
  const priceNative = () => priceOf([size0, size1], [decimals0, decimals1]);
  const [text0, text1] = [formatUnits(size0, decimals0), formatUnits(size1, decimals1)];
  if (amount0 > 0n && amount1 < 0n) return { eventType, asset0In: text0, asset1Out: text1, priceNative: priceNative() };
  if (amount1 > 0n && amount0 < 0n) return { eventType, asset1In: text1, asset0Out: text0, priceNative: priceNative() };
  return null;
}

/** The fields of a liquidity change; null when nothing moved. */
function liquidityFields(row: EventRow, [decimals0, decimals1]: Decimals) {
  const [amount0, amount1] = [absBigint(BigInt(row.amount0)), absBigint(BigInt(row.amount1))];
  if (amount0 === 0n && amount1 === 0n) return null;
  const eventType = row.kind === 'exit' ? ('exit' as const) : ('join' as const);
  return { eventType, amount0: formatUnits(amount0, decimals0), amount1: formatUnits(amount1, decimals1) };
}

/**
 * Price of a whole token0 in whole token1, from positive raw amounts: a decimal without exponent, rounded down after
 * {@link PRICE_DIGITS} digits that count, so it is never 0.
 */
export function priceOf([amount0, amount1]: readonly [bigint, bigint], [decimals0, decimals1]: Decimals): string {
  const dividend = amount1 * 10n ** BigInt(decimals0);
  const divisor = amount0 * 10n ** BigInt(decimals1);
  const digits = Math.max(0, PRICE_DIGITS + String(divisor).length - String(dividend).length);
  return formatUnits((dividend * 10n ** BigInt(digits)) / divisor, digits);
}

import type pg from 'pg';
import { isTemporaryFailure } from '../../db/failure.ts';
import { mulDivFloor, Q64 } from '../../protocol/fixed-point.ts';
import { defineResource } from '../declaration/api-route.ts';
import { unavailable } from '../errors.ts';
import { poolAddressParam, poolNotServed } from '../quotes/quotes.ts';
import { chainIdParam, clampSize, parseQuery, type ServedChains, servedChain } from '../request.ts';
import type { PoolDirectory, ServedPool } from '../snapshots/pool-directory.ts';
import { DEFAULT_LIMIT, listTrades, MAX_LIMIT, RawTradesQuery, type Trade, type TradesPage } from './declaration.ts';
import { type Fill, type LogPosition, selectFills, selectTrades, type TradeRow } from './select-trades.ts';

export type TradesDeps = {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  /** The replica, when there is one: trades are only read. */
  readonly database: pg.Pool;
};

/** `GET /public/v1/evm/{chain_id}/{pool_address}/trades`. */
export const tradesResource = defineResource([listTrades], ({ chains, directory, database }: TradesDeps) => ({
  async listTrades(c) {
    const chainId = chainIdParam(c);
    const address = poolAddressParam(c.req.param('pool_address') ?? '');
    const raw = parseQuery(c, RawTradesQuery);
    const chain = servedChain(chains, chainId);
    const limit = clampSize(raw.limit ?? DEFAULT_LIMIT, MAX_LIMIT, 'limit');
    const before = raw.before === undefined ? null : toPosition(raw.before);
    const pool = (await directory.table()).find(chain.chainId, address);
    if (!pool) throw poolNotServed(address);
    return c.json(await readPage(database, pool, before, limit));
  },
}));

/** @throws ApiError 503 when the database is unreachable or has no index yet */
async function readPage(
  database: pg.Pool,
  pool: ServedPool,
  before: LogPosition | null,
  limit: number,
): Promise<TradesPage> {
  try {
    // One more than is shown decides whether there is a next page.
    const rows = await selectTrades(database, pool, before, limit + 1);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const nextBefore = rows.length > limit && last ? placeOf(last) : null;
    const fills = await selectFills(database, pool, shown);
    const data = shown.map((row) => ({ ...toTrade(row, pool), ...(fills.get(placeOf(row)) ?? NOT_COMPARED) }));
    return { data, nextBefore };
  } catch (error) {
    throw (await isTemporaryFailure(error, database)) ? unavailable(error) : error;
  }
}

const placeOf = ({ blockNumber, logIndex }: LogPosition) => `${blockNumber}-${logIndex}`;
const NOT_COMPARED: Fill = { quotedOut: null, vsQuoteBps: null };

function toTrade(
  { blockTimestamp, amount0Raw, amount1Raw, ...row }: TradeRow,
  pool: ServedPool,
): Omit<Trade, keyof Fill> {
  return {
    ...row,
    timestamp: blockTimestamp,
    amount0Raw: amount0Raw.toString(),
    amount1Raw: amount1Raw.toString(),
    priceX64: averagePriceX64(amount0Raw, amount1Raw, pool)?.toString() ?? null,
  };
}

/** token1 per whole token0, rounded down; scaled units of both tokens are of one size. */
function averagePriceX64(amount0Raw: bigint, amount1Raw: bigint, { immutables: { scale } }: ServedPool): bigint | null {
  const [scaled0, scaled1] = [amount0Raw * scale.multiplier0, amount1Raw * scale.multiplier1];
  return scaled0 === 0n ? null : mulDivFloor(absolute(scaled1), Q64, absolute(scaled0));
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

function toPosition(cursor: string): LogPosition {
  const [blockNumber, logIndex] = cursor.split('-').map(Number);
  return { blockNumber: blockNumber ?? 0, logIndex: logIndex ?? 0 };
}

import type { Queryable } from '../../db/transaction.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { averagePriceX64Floor } from '../bars/average-price.ts';
import { defineResource } from '../declaration/api-route.ts';
import { type PoolPageDeps, poolPageRequest } from '../pool-page.ts';
import { readInTurn } from '../read-in-turn.ts';
import { listTrades, MAX_LIMIT, RawTradesQuery, type Trade, type TradesPage } from './declaration.ts';
import { type Fill, type LogPosition, selectFills, selectTrades, type TradeRow } from './select-trades.ts';

/** `GET /public/v1/evm/{chain_id}/{pool_address}/trades`. */
export const tradesResource = defineResource([listTrades], (deps: PoolPageDeps) => ({
  async listTrades(c) {
    const { pool, query, limit } = await poolPageRequest(c, deps, RawTradesQuery, MAX_LIMIT);
    const before = query.before === undefined ? null : toPosition(query.before);
    return c.json(await readInTurn(deps.database, (client) => readPage(client, pool, before, limit)));
  },
}));

async function readPage(
  database: Queryable,
  pool: ServedPool,
  before: LogPosition | null,
  limit: number,
): Promise<TradesPage> {
  // One swap more than is shown decides whether there is a next page.
  const rows = await selectTrades(database, pool, before, limit + 1);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const nextBefore = rows.length > limit && last ? placeOf(last) : null;
  const fills = await selectFills(database, pool, shown);
  const data = shown.map((row) => ({ ...toTrade(row, pool), ...(fills.get(placeOf(row)) ?? NOT_COMPARED) }));
  return { data, nextBefore };
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
    priceX64: averagePriceX64Floor([amount0Raw, amount1Raw], pool.immutables.scale)?.toString() ?? null,
  };
}

function toPosition(cursor: string): LogPosition {
  const [blockNumber, logIndex] = cursor.split('-').map(Number);
  return { blockNumber: blockNumber ?? 0, logIndex: logIndex ?? 0 };
}

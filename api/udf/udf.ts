import type { Context } from 'hono';
import type { Address } from 'viem';
import type { z } from 'zod';
import { firstIssue } from '../../config/load-chains.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { Clocks } from '../../runtime/clock.ts';
import type { TradedAmounts } from '../bars/average-price.ts';
import type { Prices } from '../bars/bar-rows.ts';
import { MAX_BARS } from '../bars/intervals.ts';
import { FINAL_MAX_AGE_SECS, NEWEST } from '../bars/pages.ts';
import { type BarRow, selectBars } from '../bars/select-bars.ts';
import { defineResource } from '../declaration/api-route.ts';
import { ReadyBody, sendCached, sendReady } from '../http/ready-body.ts';
import { findListed } from '../listing/find-listed.ts';
import { toListingQuery } from '../listing/query.ts';
import type { PoolPageDeps } from '../pool-page.ts';
import { readInTurn } from '../read-in-turn.ts';
import { getUdfConfig, getUdfSymbol, getUdfTime, listUdfBars, searchUdfSymbols } from './declaration.ts';
import {
  CONFIG,
  type Found,
  type History,
  HistoryQuery,
  MAX_FOUND,
  RESOLUTIONS,
  SearchQuery,
  SYMBOL,
  type SymbolInfo,
  SymbolQuery,
} from './messages.ts';
import { quotientFloor } from './numbers.ts';

const DAY = RESOLUTIONS['1D'];
/** How many of the newest days with trades are searched for a price. */
const PRICED_DAYS = 30;
/** How many digits of a price are shown. */
const SIGNIFICANT_DIGITS = 6;
const MAX_DECIMALS = 16;
/** The listing rejects a shorter text. */
const MIN_SEARCH_LENGTH = 2;

export type UdfDeps = PoolPageDeps & Pick<Clocks, 'wallClock'>;

/** `GET /public/v1/udf/…`: the data feed of TradingView's charting library, over the bars of `…/ohlcv`. */
export const udfResource = defineResource(
  [getUdfConfig, getUdfTime, getUdfSymbol, searchUdfSymbols, listUdfBars],
  ({ chains, database, directory, wallClock }: UdfDeps) => {
    const findPool = async (ticker: string) => {
      const [chainId = '', address = ''] = ticker.split(':');
      const pool = (await directory.table()).find(Number(chainId), address.toLowerCase() as Address);
      return pool && chains.has(pool.chainId) ? pool : null;
    };
    const chainName = (pool: ServedPool) => chains.get(pool.chainId)?.name ?? String(pool.chainId);
    return {
      getUdfConfig: (c) => c.json(CONFIG),
      getUdfTime: (c) => c.json(Math.floor(wallClock() / 1_000)),
      async getUdfSymbol(c) {
        const query = parse(c, SymbolQuery);
        if (query.error) return query.error;
        const pool = await findPool(query.data.symbol);
        if (!pool) return sendError(c, 'unknown_symbol');
        const days = { secs: DAY, beforeTs: NEWEST, limit: PRICED_DAYS };
        const { bars } = await readInTurn(database, (client) => selectBars(client, pool, days));
        const exchange = chainName(pool);
        const { symbol: name, ticker, description } = toFound(pool, exchange);
        const pricescale = pricescaleOf(pool, bars.find(isPriced)?.close ?? null);
        return c.json({
          ...SYMBOL,
          name,
          ticker,
          description,
          exchange,
          listed_exchange: exchange,
          pricescale,
        } satisfies SymbolInfo);
      },
      async searchUdfSymbols(c) {
        const query = parse(c, SearchQuery);
        if (query.error) return query.error;
        const text = query.data.query.trim();
        const search = [...text].length < MIN_SEARCH_LENGTH ? {} : { search: text };
        const count = Math.min(query.data.limit, MAX_FOUND);
        const listing = toListingQuery({ ...search, count, sortBy: 'tvl' }, ['tvl']);
        const listed = await findListed(database, [...chains.values()], listing);
        const table = await directory.table();
        const found = listed.map(({ chainId, address }) => table.find(chainId, address));
        return c.json(found.flatMap((pool) => (pool ? [toFound(pool, chainName(pool))] : [])));
      },
      async listUdfBars(c) {
        const query = parse(c, HistoryQuery);
        if (query.error) return query.error;
        const { symbol, resolution, from, to, countback } = query.data;
        const pool = await findPool(symbol);
        if (!pool) return sendError(c, 'unknown_symbol');
        const secs = RESOLUTIONS[resolution];
        const beforeTs = Math.ceil(to / secs) * secs;
        const count = Math.min(countback ?? Math.max(Math.ceil((to - from) / secs), 0), MAX_BARS);
        // One bar more, so that a page without prices can name an earlier bar to continue at, if there is any.
        const range = { secs, beforeTs, limit: count + 1 };
        const bars = await readInTurn(database, (client) => selectBars(client, pool, range));
        const history = historyOf(bars.bars, pool, count, countback === undefined ? from : 0);
        const body = new ReadyBody(JSON.stringify(history));
        return beforeTs <= bars.finalUntilTs ? sendCached(c, body, FINAL_MAX_AGE_SECS) : sendReady(c, body);
      },
    };
  },
);

const sendError = (c: Context, errmsg: string) => c.json({ s: 'error', errmsg } satisfies History);

/** Parses a query. The library expects errors with status 200, in the body. */
function parse<S extends z.ZodType>(
  c: Context,
  schema: S,
): { readonly data: z.output<S>; readonly error?: never } | { readonly error: Response } {
  const parsed = schema.safeParse(c.req.query());
  return parsed.success ? { data: parsed.data } : { error: sendError(c, firstIssue(parsed.error)) };
}

function toFound({ chainId, address, pair }: ServedPool, exchange: string): Found {
  const ticker = `${chainId}:${address}`;
  return { symbol: pair, full_name: ticker, description: `${pair} ${address}`, exchange, ticker, type: 'crypto' };
}

type Priced = BarRow & Prices<TradedAmounts>;
const isPriced = (bar: BarRow): bar is Priced => bar.open !== null;

/** @param bars newest first */
function historyOf(bars: readonly BarRow[], pool: ServedPool, count: number, from: number): History {
  const priced = bars.filter(isPriced);
  const shown = priced
    .filter(({ startTs }) => startTs >= from)
    .slice(0, count)
    .reverse();
  if (shown.length === 0) {
    const next = priced[0] ?? bars[count];
    return next ? { s: 'no_data', nextTime: next.startTs } : { s: 'no_data' };
  }
  const prices = (amounts: (bar: Priced) => TradedAmounts) => shown.map((bar) => priceFloor(amounts(bar), pool));
  const unit0 = 10n ** BigInt(pool.token0.decimals ?? 0);
  return {
    s: 'ok',
    t: shown.map(({ startTs }) => startTs),
    o: prices(({ open }) => open),
    h: prices(({ high }) => high),
    l: prices(({ low }) => low),
    c: prices(({ close }) => close),
    v: shown.map(({ volume0Raw }) => quotientFloor(BigInt(volume0Raw), unit0)),
  };
}

/** The price of token0 in token1, rounded down. Scaled amounts of both tokens have the same decimals. */
const priceFloor = ([amount0, amount1]: TradedAmounts, { immutables: { scale } }: ServedPool): number =>
  quotientFloor(amount1 * scale.multiplier1, amount0 * scale.multiplier0);

function pricescaleOf(pool: ServedPool, close: TradedAmounts | null): number {
  const magnitude = close === null ? 0 : Math.floor(Math.log10(priceFloor(close, pool)));
  return 10 ** Math.min(Math.max(SIGNIFICANT_DIGITS - 1 - magnitude, 0), MAX_DECIMALS);
}

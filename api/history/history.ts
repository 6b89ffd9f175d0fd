import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Clocks } from '../../runtime/clock.ts';
import type { FoundBars } from '../bars/bar-rows.ts';
import { INTERVALS, MAX_BARS } from '../bars/intervals.ts';
import { FINAL_MAX_AGE_SECS, NEWEST } from '../bars/pages.ts';
import { type BarRow, selectBars } from '../bars/select-bars.ts';
import { defineResource } from '../declaration/api-route.ts';
import { ReadyBody, sendCached, sendReady } from '../http/ready-body.ts';
import { parseAddresses } from '../listing/query.ts';
import { type PoolPageDeps, poolPageRequest } from '../pool-page.ts';
import { readInTurn } from '../read-in-turn.ts';
import { chainIdParam, parseQuery, servedChain } from '../request.ts';
import { type BarsView, barsPage, INVERSE, pageBefore, quoteBarsPage } from './bars.ts';
import { listBars, RawBarsQuery } from './bars-declaration.ts';
import { type DaysPage, listDays, MAX_DAYS, MAX_EVENTS, type PoolDay, RawDaysQuery } from './days-declaration.ts';
import { type DepthPage, listDepth, RawDepthQuery } from './depth-declaration.ts';
import { selectDepth } from './select-depth.ts';
import { type QuoteBarRow, selectQuoteBars } from './select-quote-bars.ts';
import { selectTrends } from './select-trends.ts';
import { listTrends, MAX_TRENDS, RawTrendsQuery, type TrendsPage } from './trends-declaration.ts';
import { selectRates } from './usd-rates.ts';

const countDays = loadStatement<{ readonly shown: number; readonly hasOlder: boolean }>(
  './count-days.sql',
  import.meta.url,
  'count-days',
);
const daysBefore = loadStatement<PoolDay>('./select-days.sql', import.meta.url, 'days');

export type HistoryDeps = PoolPageDeps & Pick<Clocks, 'wallClock'>;

/** `GET /public/v1/evm/{chain_id}/{pool_address}/ohlcv`, `…/depth_history` and `…/days`, and `…/trends`. */
export const historyResource = defineResource([listBars, listDepth, listDays, listTrends], (deps: HistoryDeps) => ({
  async listBars(c) {
    const { pool, query, limit } = await poolPageRequest(c, deps, RawBarsQuery, MAX_BARS);
    const { before, series = 'trade', currency = 'token', invert = false, includeEmpty = false } = query;
    const secs = INTERVALS[query.interval ?? '1h'];
    const beforeTs = Math.ceil((before ?? NEWEST) / secs) * secs;
    // One bar more than is shown decides whether there is a next page.
    const range = { secs, beforeTs, limit: limit + 1 };
    const pricedIn = invert ? pool.token0.address : pool.token1.address;
    const viewOf = async (client: Queryable, { bars }: FoundBars<BarRow | QuoteBarRow>): Promise<BarsView> => {
      const starts = bars.map(({ startTs }) => startTs);
      // Without `before` a page begins at the newest bar.
      const newestTs = (starts[0] ?? 0) + secs;
      const endTs =
        before === undefined ? newestTs : Math.min(beforeTs, Math.floor(deps.wallClock() / 1_000 / secs) * secs);
      const view = { secs, limit, invert, emptyBeforeTs: includeEmpty ? endTs : null };
      if (currency === 'token') return view;
      return { ...view, rateAt: await selectRates(client, pool.chainId, pricedIn, starts) };
    };
    const { page, finalUntilTs } = await readInTurn(deps.database, async (client) => {
      if (series === 'trade') {
        const bars = await selectBars(client, pool, range);
        return { ...bars, page: barsPage(bars, pool, await viewOf(client, bars)) };
      }
      const bars = await selectQuoteBars(client, pool, invert ? INVERSE[series] : series, range);
      return { ...bars, page: quoteBarsPage(bars, await viewOf(client, bars)) };
    });
    const body = new ReadyBody(JSON.stringify(page));
    return beforeTs <= finalUntilTs ? sendCached(c, body, FINAL_MAX_AGE_SECS) : sendReady(c, body);
  },
  async listDepth(c) {
    const { pool, query, limit } = await poolPageRequest(c, deps, RawDepthQuery, MAX_BARS);
    const range = { interval: query.interval ?? '1m', beforeTs: query.before ?? NEWEST, limit: limit + 1 } as const;
    const found = await readInTurn(deps.database, (client) => selectDepth(client, pool, range));
    return c.json(pageBefore(found, limit, ({ ts }) => ts) satisfies DepthPage);
  },
  async listDays(c) {
    const { pool, query, limit } = await poolPageRequest(c, deps, RawDaysQuery, MAX_DAYS);
    const of = [pool.chainId, pool.address, query.before ?? NEWEST];
    const page = await readInTurn(deps.database, async (client): Promise<DaysPage> => {
      const [count] = await countDays(client, [...of, limit, MAX_EVENTS]);
      const data = await daysBefore(client, [...of, count?.shown ?? 1]);
      return { data, nextBefore: (count?.hasOlder && data.at(-1)?.dayTs) || null };
    });
    return c.json(page);
  },
  async listTrends(c) {
    const chainParam = chainIdParam(c);
    const addresses = parseAddresses(parseQuery(c, RawTrendsQuery).addresses, MAX_TRENDS);
    const { chainId } = servedChain(deps.chains, chainParam);
    const table = await deps.directory.table();
    const pools = addresses.flatMap((address) => table.find(chainId, address) ?? []);
    const data = await readInTurn(deps.database, (client) => selectTrends(client, chainId, pools));
    return c.json({ data } satisfies TrendsPage);
  },
}));

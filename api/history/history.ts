import { defineResource } from '../declaration/api-route.ts';
import { ReadyBody, sendCached, sendReady } from '../http/ready-body.ts';
import { type PoolPageDeps, poolPageRequest, readRows } from '../pool-page.ts';
import { barsPage } from './bars.ts';
import {
  type DaysPage,
  DEFAULT_LIMIT,
  INTERVALS,
  listBars,
  listDays,
  MAX_BARS,
  MAX_DAYS,
  RawBarsQuery,
  RawDaysQuery,
} from './declaration.ts';
import { selectBars } from './select-bars.ts';
import { selectDays } from './select-days.ts';

/** Later than any block. */
export const NEWEST = 2 ** 40;
/** How long caches may keep a page that does not change any more. */
export const FINAL_MAX_AGE_SECS = 3_600;

/** `GET /public/v1/evm/{chain_id}/{pool_address}/ohlcv` and `…/days`. */
export const historyResource = defineResource([listBars, listDays], (deps: PoolPageDeps) => ({
  async listBars(c) {
    const sizes = { usual: DEFAULT_LIMIT, most: MAX_BARS };
    const { pool, query, limit } = await poolPageRequest(c, deps, RawBarsQuery, sizes);
    const { before, invert = false, includeEmpty = false } = query;
    const secs = INTERVALS[query.interval ?? '1h'];
    const beforeTs = Math.ceil((before ?? NEWEST) / secs) * secs;
    // One more than is shown decides whether there is a next page.
    const bars = await readRows(deps.database, () => selectBars(deps.database, pool, secs, beforeTs, limit + 1));
    // Without `before` a page begins at the newest trade.
    const newestTs = (bars.bars[0]?.startTs ?? 0) + secs;
    const endTs = before === undefined ? newestTs : Math.min(beforeTs, Math.floor(Date.now() / 1_000 / secs) * secs);
    const emptyBeforeTs = includeEmpty ? endTs : null;
    const body = new ReadyBody(JSON.stringify(barsPage(bars, pool, { secs, limit, invert, emptyBeforeTs })));
    return beforeTs <= bars.finalUntilTs ? sendCached(c, body, FINAL_MAX_AGE_SECS) : sendReady(c, body);
  },
  async listDays(c) {
    const sizes = { usual: DEFAULT_LIMIT, most: MAX_DAYS };
    const { pool, query, limit } = await poolPageRequest(c, deps, RawDaysQuery, sizes);
    const beforeTs = query.before ?? NEWEST;
    const days = await readRows(deps.database, () => selectDays(deps.database, pool, beforeTs, limit + 1));
    const data = days.slice(0, limit);
    const page: DaysPage = { data, nextBefore: days.length > limit ? (data.at(-1)?.dayTs ?? null) : null };
    return c.json(page);
  },
}));

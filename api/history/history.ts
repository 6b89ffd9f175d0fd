import type pg from 'pg';
import { isTemporaryFailure } from '../../db/failure.ts';
import { defineResource } from '../declaration/api-route.ts';
import { unavailable } from '../errors.ts';
import { ReadyBody, sendCached, sendReady } from '../http/ready-body.ts';
import { poolAddressParam, poolNotServed } from '../quotes/quotes.ts';
import { chainIdParam, clampSize, parseQuery, type ServedChains, servedChain } from '../request.ts';
import type { PoolDirectory, ServedPool } from '../snapshots/pool-directory.ts';
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

export type HistoryDeps = {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  /** The replica, when there is one: history is only read. */
  readonly database: pg.Pool;
};

/** Later than any block. */
const NEWEST = 2 ** 40;
/** How long caches may keep a page that does not change any more. */
const FINAL_MAX_AGE_SECS = 3_600;

/** `GET /public/v1/evm/{chain_id}/{pool_address}/ohlcv` and `…/days`. */
export const historyResource = defineResource([listBars, listDays], ({ chains, directory, database }: HistoryDeps) => {
  const servedPool = async (chainId: string, address: ServedPool['address']) => {
    const chain = servedChain(chains, chainId);
    const pool = (await directory.table()).find(chain.chainId, address);
    if (!pool) throw poolNotServed(address);
    return pool;
  };
  return {
    async listBars(c) {
      const [chainId, address] = [chainIdParam(c), poolAddressParam(c.req.param('pool_address') ?? '')];
      const raw = parseQuery(c, RawBarsQuery);
      const secs = INTERVALS[raw.interval ?? '1h'];
      const limit = clampSize(raw.limit ?? DEFAULT_LIMIT, MAX_BARS, 'limit');
      const pool = await servedPool(chainId, address);
      const beforeTs = Math.ceil((raw.before ?? NEWEST) / secs) * secs;
      // One more than is shown decides whether there is a next page.
      const bars = await read(database, () => selectBars(database, pool, secs, beforeTs, limit + 1));
      const { invert = false, includeEmpty = false } = raw;
      // Without `before` a page begins at the newest trade.
      const newestTs = (bars.bars[0]?.startTs ?? 0) + secs;
      const endTs =
        raw.before === undefined ? newestTs : Math.min(beforeTs, Math.floor(Date.now() / 1_000 / secs) * secs);
      const emptyBeforeTs = includeEmpty ? endTs : null;
      const body = new ReadyBody(JSON.stringify(barsPage(bars, pool, { secs, limit, invert, emptyBeforeTs })));
      return beforeTs <= bars.finalUntilTs ? sendCached(c, body, FINAL_MAX_AGE_SECS) : sendReady(c, body);
    },
    async listDays(c) {
      const [chainId, address] = [chainIdParam(c), poolAddressParam(c.req.param('pool_address') ?? '')];
      const raw = parseQuery(c, RawDaysQuery);
      const limit = clampSize(raw.limit ?? DEFAULT_LIMIT, MAX_DAYS, 'limit');
      const pool = await servedPool(chainId, address);
      const days = await read(database, () => selectDays(database, pool, raw.before ?? NEWEST, limit + 1));
      const data = days.slice(0, limit);
      const page: DaysPage = { data: [...data], nextBefore: days.length > limit ? (data.at(-1)?.dayTs ?? null) : null };
      return c.json(page);
    },
  };
});

/** @throws ApiError 503 when the database is unreachable or has no index yet */
async function read<T>(database: pg.Pool, select: () => Promise<T>): Promise<T> {
  try {
    return await select();
  } catch (error) {
    throw (await isTemporaryFailure(error, database)) ? unavailable(error) : error;
  }
}

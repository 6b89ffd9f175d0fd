import { eq, max, min, sql } from 'drizzle-orm';
import type pg from 'pg';
import { isTemporaryFailure } from '../../db/failure.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { listingWindows, priceHealth } from '../../db/schema/operator.ts';
import { defineResource } from '../declaration/api-route.ts';
import type { ChainLag } from '../observability/chain-lag.ts';
import { sharedCheck } from '../observability/shared-check.ts';
import { getStatus, type ServiceStatus } from './status-declaration.ts';

export type StatusDeps = {
  /** How far the index of each chain is behind it. */
  readonly lags: () => readonly ChainLag[];
  readonly database: pg.Pool;
};

type ChainStatus = ServiceStatus['chains'][number];
type Ages = Pick<ChainStatus, 'newestPriceAgeSecs' | 'oldestPriceAgeSecs' | 'listingAgeSecs'>;

const UNKNOWN: Ages = { newestPriceAgeSecs: null, oldestPriceAgeSecs: null, listingAgeSecs: null };

/** `GET /public/v1/status`: what a client may know of what `/ready` tells the operator. */
export const statusResource = defineResource([getStatus], ({ lags, database }: StatusDeps) => {
  const readAges = sharedCheck(() => selectAges(database));
  return {
    async getStatus(c) {
      const ages = await readAges();
      const chains = lags().map((lag) => toStatus(lag, ages.get(lag.chainId) ?? UNKNOWN));
      return c.json({ serverTs: Math.floor(Date.now() / 1000), chains } satisfies ServiceStatus);
    },
  };
});

function toStatus({ stalled, ...lag }: ChainLag, ages: Ages): ChainStatus {
  return { ...lag, following: !stalled, ...ages };
}

/** By chain; empty while the database does not answer, when every age is unknown. */
async function selectAges(database: pg.Pool): Promise<ReadonlyMap<number, Ages>> {
  const wholeSecs = (secs: number): number | null => Math.max(0, Math.floor(secs));
  const ageOf = (instant: unknown) => sql`extract(epoch FROM now() - ${instant})::float8`.mapWith(wholeSecs);
  const { chainId, capturedAt } = priceHealth;
  const prices = queriesOn(database)
    .select({ chainId, newest: max(capturedAt).as('newest'), oldest: min(capturedAt).as('oldest') })
    .from(priceHealth)
    .groupBy(chainId)
    .as('prices');
  try {
    const rows = await queriesOn(database)
      .select({
        chainId: listingWindows.chainId,
        newestPriceAgeSecs: ageOf(prices.newest),
        oldestPriceAgeSecs: ageOf(prices.oldest),
        listingAgeSecs: ageOf(sql`to_timestamp(${listingWindows.generatedAtTs})`),
      })
      .from(listingWindows)
      .leftJoin(prices, eq(prices.chainId, listingWindows.chainId));
    return new Map(rows.map(({ chainId: id, ...ages }) => [id, ages]));
  } catch (error) {
    if (await isTemporaryFailure(error, database)) return new Map();
    throw error;
  }
}

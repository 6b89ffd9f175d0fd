import type { Queryable } from '../../db/transaction.ts';
import { toExtensions } from '../pools/extension-rows.ts';
import { toProvider } from '../pools/provider-rows.ts';
import { type PoolFactsColumns, selectPoolFacts } from './select-pool-facts.ts';

/** Ages at which what the scheduled work found stops counting, seconds. */
export type MaxAges = { readonly fiatMaxAgeSecs: number; readonly statusMaxAgeSecs: number };

/**
 * Reads every pool of every chain, from one snapshot.
 *
 * @param toTs end of the 24-hour and 7-day windows, Unix seconds
 */
export async function readPoolRows(database: Queryable, toTs: number, ages: MaxAges): Promise<PoolFactsColumns[]> {
  const oldest = (ageSecs: number) => new Date(Date.now() - ageSecs * 1000);
  return selectPoolFacts(database, {
    toTs,
    oldestFiatPrice: oldest(ages.fiatMaxAgeSecs),
    oldestStatus: oldest(ages.statusMaxAgeSecs),
  });
}

/** All that the listing needs to know of a pool. */
export type PoolFacts = Readonly<ReturnType<typeof toFacts>>;

/** Puts together what the listing takes together, and what it shows where Postgres has no row. */
export function toFacts({
  token0,
  token1,
  pendingProvider,
  verified,
  day,
  weekLpFees,
  liquidity,
  ...row
}: PoolFactsColumns) {
  return {
    ...row,
    tokens: [token0, token1] as const,
    pendingProvider: wholeOrNull(pendingProvider),
    adminVerified: verified ?? false,
    provider: toProvider(row.provider),
    priceStatus: row.priceStatus ?? 'unknown',
    extensions: toExtensions(row.extensions),
    day: {
      totals: day,
      weekLpFeesScaled: [weekLpFees.scaled0, weekLpFees.scaled1] as const,
      liquidityRaw: [liquidity.raw0, liquidity.raw1] as const,
    },
  };
}

/** Columns that are all null when there is nothing of theirs. */
function wholeOrNull({ address, block, executeAfter }: PoolFactsColumns['pendingProvider']) {
  return address === null || block === null || executeAfter === null ? null : { address, block, executeAfter };
}

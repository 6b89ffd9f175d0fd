import type { Queryable } from '../../db/transaction.ts';
import { toExtensions } from '../pools/extension-rows.ts';
import { toProvider } from '../pools/provider-rows.ts';
import type { PoolFactsRow } from './pool-facts.ts';
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

export function toFacts(row: PoolFactsColumns): PoolFactsRow {
  return {
    ...row,
    tokens: [
      { address: row.token0, symbol: row.symbol0, name: row.name0, decimals: row.decimals0, usd: row.usd0 },
      { address: row.token1, symbol: row.symbol1, name: row.name1, decimals: row.decimals1, usd: row.usd1 },
    ],
    adminUsername: row.username,
    adminVerified: row.verified ?? false,
    pendingProvider: pendingProvider(row),
    provider: toProvider(row.provider),
    priceStatus: row.priceStatus ?? 'unknown',
    extensions: toExtensions(row.extensions),
    classification: row.tier === null ? null : { tier: row.tier, reasonCodes: row.reasonCodes ?? [] },
    day: {
      totals: row.day,
      weekLpFeesScaled: [row.weekLpFee0Scaled, row.weekLpFee1Scaled],
      liquidityRaw: [row.liquidity0Raw, row.liquidity1Raw],
    },
  };
}

function pendingProvider(row: PoolFactsColumns): PoolFactsRow['pendingProvider'] {
  const { pendingPriceProvider: address, pendingPriceProviderBlock: block } = row;
  if (address === null || block === null) return null;
  return { address, block, executeAfter: row.pendingPriceProviderExecuteAfter ?? 0n };
}

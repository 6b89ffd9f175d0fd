import { and, eq, sql } from 'drizzle-orm';
import type pg from 'pg';
import { queriesOn } from '../../db/query-builder.ts';
import { fiatPrices, priceHealth } from '../../db/schema/operator.ts';
import { pools, priceProviders } from '../../db/schema/read-model.ts';
import { upsertRows } from '../../db/write-rows.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isConfirmed } from '../listing/classify.ts';
import { PROVIDER_COLUMNS } from '../listing/pool-facts.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { parseTokenKey, type TokenKey, tokenKey } from '../pools/token-key.ts';
import { derivePoolPrices, type PricingPool } from './pool-derived.ts';
import { type FiatPrice, isPlausibleUsd, type PriceSource, type TokensToPrice } from './price-sources.ts';

export type FiatDeps = {
  readonly database: pg.Pool;
  readonly registry: OperatorRegistry;
  /** What to price. */
  readonly tokens: () => Promise<TokensToPrice>;
  /** Queried in this order, each only for tokens that no earlier source priced. */
  readonly sources: readonly PriceSource[];
  /** An older price is ignored: the next source, or a pool, may price the token. */
  readonly fiatMaxAgeSecs: number;
  /** A pool whose price is older than this prices no token. */
  readonly statusMaxAgeSecs: number;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
};

/**
 * Prices the tokens of all pools. A token for which no price is found keeps its last one until that is too old to
 * count.
 *
 * @returns number of tokens priced
 * @throws AggregateError when a source failed, after the prices of the others were stored
 */
export async function refreshFiatPrices(deps: FiatDeps): Promise<number> {
  const { prices, failures } = await queryInOrder(await deps.tokens(), deps);
  const all = derivePoolPrices(prices, await readPricingPools(deps));
  const rows = [...all].map(([key, price]) => {
    const { chainId, address: token } = parseTokenKey(key);
    return { chainId, token, ...price };
  });
  await upsertRows(deps.database, fiatPrices, rows, { key: ['chainId', 'token'] });
  if (failures.length > 0) throw new AggregateError(failures, 'a price source failed');
  return all.size;
}

async function queryInOrder(
  { first, others, ...rest }: TokensToPrice,
  { sources, fiatMaxAgeSecs, wallClock }: FiatDeps,
) {
  const oldest = wallClock() - fiatMaxAgeSecs * 1000;
  const prices = new Map<TokenKey, FiatPrice>();
  const failures: Error[] = [];
  for (const source of sources) {
    const isOpen = (token: TokenKey) => !prices.has(token);
    const answer = await source({ ...rest, first: first.filter(isOpen), others: others.filter(isOpen) });
    for (const [token, price] of answer.prices) {
      if (isPlausibleUsd(price.usd) && price.pricedAt.getTime() > oldest) prices.set(token, price);
    }
    failures.push(...answer.failures);
  }
  return { prices, failures };
}

/**
 * Reads pools with a recent price whose feeds are confirmed. It considers only pools whose two tokens the operator
 * named: they stay few, however many untrusted pools there are.
 */
async function readPricingPools({ database, registry, statusMaxAgeSecs }: FiatDeps): Promise<PricingPool[]> {
  const named = sql`SELECT * FROM unnest(${sql.param(registry.tokens.map(({ chainId }) => chainId))}::int8[],
    ${sql.param(registry.tokens.map(({ address }) => address))}::text[])`;
  const isRecent = sql`${priceHealth.capturedAt} > now() - make_interval(secs => ${statusMaxAgeSecs})`;
  const { chainId, address, factory, token0, token1, priceProvider } = pools;
  const rows = await queriesOn(database)
    .select({ chainId, pool: address, factory, token0, token1, price: priceHealth, provider: PROVIDER_COLUMNS })
    .from(pools)
    .innerJoin(priceHealth, and(eq(priceHealth.chainId, chainId), eq(priceHealth.pool, address)))
    .innerJoin(priceProviders, and(eq(priceProviders.chainId, chainId), eq(priceProviders.address, priceProvider)))
    .where(
      and(
        eq(priceHealth.status, 'healthy'),
        // A live price may never land.
        eq(priceHealth.basis, 'committed'),
        isRecent,
        sql`(${chainId}, ${token0}) IN (${named})`,
        sql`(${chainId}, ${token1}) IN (${named})`,
      ),
    );
  return rows.flatMap((row) => {
    const { sellPriceX64: sellX64, buyPriceX64: buyX64, capturedAt } = row.price;
    if (!registry.deploymentOf(row.chainId, row.factory) || !isConfirmed(row, registry)) return [];
    if (sellX64 === null || buyX64 === null) return [];
    const keyOf = (token: string) => tokenKey(row.chainId, token);
    return [{ pool: row.pool, token0: keyOf(row.token0), token1: keyOf(row.token1), sellX64, buyX64, capturedAt }];
  });
}

import { and, eq, sql } from 'drizzle-orm';
import { union } from 'drizzle-orm/pg-core';
import type pg from 'pg';
import { queriesOn } from '../../db/query-builder.ts';
import { fiatPrices, priceHealth } from '../../db/schema/operator.ts';
import { pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { upsertRows } from '../../db/write-rows.ts';
import { isAnchoredFeedMatched } from '../../protocol/classification.ts';
import { readClassificationFacts } from '../classification/read-facts.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { derivePoolPrices, type PricingPool } from './pool-derived.ts';
import { type FiatPrice, isPlausibleUsd, type PriceSource } from './price-sources.ts';
import { parseTokenKey, type TokenKey, tokenKey } from './token-key.ts';

export type FiatDeps = {
  readonly database: pg.Pool;
  readonly registry: OperatorRegistry;
  /** Asked in order; each only for the tokens that those before it do not know. */
  readonly sources: readonly PriceSource[];
  /** An older price is ignored: the next source is asked, or a pool. */
  readonly fiatMaxAgeSecs: number;
  /** A pool's price older than this prices nothing. */
  readonly statusMaxAgeSecs: number;
};

/**
 * Prices every token of every pool. When a source fails, what the others know is stored all the same, then the failure is
 * reported; a token that stays without a price keeps its last one until that is too old to count.
 *
 * @returns number of tokens priced
 */
export async function refreshFiatPrices(deps: FiatDeps): Promise<number> {
  const tokens = await readTokens(deps.database);
  const { prices, failures } = await askInOrder(tokens, deps);
  const all = derivePoolPrices(prices, await readPricingPools(deps));
  const rows = [...all].map(([key, price]) => {
    const { chainId, address: token } = parseTokenKey(key);
    return { chainId, token, ...price };
  });
  await upsertRows(deps.database, fiatPrices, rows, { key: ['chainId', 'token'] });
  if (failures.length > 0) throw new AggregateError(failures, 'a price source failed');
  return all.size;
}

async function askInOrder(tokens: readonly TokenKey[], { sources, fiatMaxAgeSecs }: FiatDeps) {
  const oldest = Date.now() - fiatMaxAgeSecs * 1000;
  const prices = new Map<TokenKey, FiatPrice>();
  const failures: Error[] = [];
  for (const source of sources) {
    const answer = await source(tokens.filter((token) => !prices.has(token)));
    for (const [token, price] of answer.prices) {
      if (isPlausibleUsd(price.usd) && price.pricedAt.getTime() > oldest) prices.set(token, price);
    }
    failures.push(...answer.failures);
  }
  return { prices, failures };
}

async function readTokens(database: Queryable): Promise<readonly TokenKey[]> {
  const queries = queriesOn(database);
  const rows = await union(
    queries.select({ chainId: pools.chainId, token: pools.token0 }).from(pools),
    queries.select({ chainId: pools.chainId, token: pools.token1 }).from(pools),
  ).orderBy(sql`1, 2`);
  return rows.map(({ chainId, token }) => tokenKey(chainId, token));
}

async function readPricingPools({ database, registry, statusMaxAgeSecs }: FiatDeps): Promise<PricingPool[]> {
  const known = await readClassificationFacts(database, registry, null);
  const confirmed = new Map(
    known
      .filter(({ facts }) => isAnchoredFeedMatched(facts))
      .map(({ chainId, pool, facts }) => [`${chainId}:${pool}`, facts]),
  );
  const isRecent = sql`${priceHealth.capturedAt} > now() - make_interval(secs => ${statusMaxAgeSecs})`;
  const rows = await queriesOn(database)
    .select()
    .from(priceHealth)
    .where(and(eq(priceHealth.status, 'healthy'), isRecent));
  return rows.flatMap(({ chainId, pool, sellPriceX64, buyPriceX64, capturedAt }) => {
    const facts = confirmed.get(`${chainId}:${pool}`);
    if (!facts || sellPriceX64 === null || buyPriceX64 === null) return [];
    const keyOf = (address: string) => tokenKey(chainId, address);
    const tokens = { token0: keyOf(facts.token0.address), token1: keyOf(facts.token1.address) };
    return [{ pool, ...tokens, sellX64: sellPriceX64, buyX64: buyPriceX64, capturedAt }];
  });
}

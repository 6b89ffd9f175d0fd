import type { ChainConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { fiatPrices } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';
import type { TokensToPrice } from './price-sources.ts';
import { type TokenKey, tokenKey } from './token-key.ts';

/** Tokens of every pool. Those that the operator named and those of funded pools come before all others. */
export async function readTokensToPrice(
  database: Queryable,
  registry: OperatorRegistry,
  funded: ReadonlySet<TokenKey>,
): Promise<TokensToPrice> {
  const { rows } = await database.query<{ chainId: string; address: `0x${string}` }>(
    'SELECT chain_id AS "chainId", address FROM live.token ORDER BY block_timestamp, chain_id, address',
  );
  const { chainId, token } = fiatPrices;
  const priced = await queriesOn(database).select({ chainId, token }).from(fiatPrices);
  const pricedBefore = new Set(priced.map((row) => tokenKey(row.chainId, row.token)));
  const named = new Set(registry.tokens.map((it) => tokenKey(it.chainId, it.address)));
  const byRank: [TokenKey[], TokenKey[], TokenKey[]] = [[], [], []];
  for (const row of rows) {
    const key = tokenKey(Number(row.chainId), row.address);
    byRank[named.has(key) || funded.has(key) ? 0 : pricedBefore.has(key) ? 1 : 2].push(key);
  }
  return { first: [...byRank[0], ...byRank[1]], others: byRank[2] };
}

/** Tokens of a chain's funded pools. */
export function fundedTokens(
  { chainId }: Pick<ChainConfig, 'chainId'>,
  pools: readonly Pick<KnownPool, 'isFunded' | 'token0' | 'token1'>[],
): TokenKey[] {
  return pools
    .filter(({ isFunded }) => isFunded)
    .flatMap(({ token0, token1 }) => [tokenKey(chainId, token0), tokenKey(chainId, token1)]);
}

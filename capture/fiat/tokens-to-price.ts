import type { Address } from 'viem';
import type { Queryable } from '../../db/transaction.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';
import type { TokensToPrice } from './price-sources.ts';
import { type TokenKey, tokenKey } from './token-key.ts';

const TOKENS_SQL = `
  SELECT t.chain_id::float8 AS "chainId", t.address, p.token IS NOT NULL AS "isPriced"
  FROM live.token t LEFT JOIN operator.fiat_price p ON p.chain_id = t.chain_id AND p.token = t.address
  ORDER BY t.block_timestamp, t.chain_id, t.address`;

/** Reads the tokens of every pool. Those that the operator named and those of funded pools come before all others. */
export async function readTokensToPrice(
  database: Queryable,
  registry: OperatorRegistry,
  pools: readonly Pick<KnownPool, 'chainId' | 'isFunded' | 'token0' | 'token1'>[],
): Promise<TokensToPrice> {
  const { rows } = await database.query<{ chainId: number; address: Address; isPriced: boolean }>(TOKENS_SQL);
  const funded = pools.filter(({ isFunded }) => isFunded);
  const important = new Set([
    ...registry.tokens.map(({ chainId, address }) => tokenKey(chainId, address)),
    ...funded.flatMap(({ chainId, token0, token1 }) => [tokenKey(chainId, token0), tokenKey(chainId, token1)]),
  ]);
  const [named, priced, others]: [TokenKey[], TokenKey[], TokenKey[]] = [[], [], []];
  for (const { chainId, address, isPriced } of rows) {
    const key = tokenKey(chainId, address);
    (important.has(key) ? named : isPriced ? priced : others).push(key);
  }
  return { first: [...named, ...priced], others };
}

import type { Address } from 'viem';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { type TokenKey, tokenKey } from '../pools/token-key.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';
import type { TokensToPrice } from './price-sources.ts';

interface TokenRow {
  readonly chainId: number;
  readonly address: Address;
  readonly decimals: number | null;
  readonly isPriced: boolean;
}

const allTokens = loadStatement<TokenRow>('./tokens-to-price.sql', import.meta.url);

/** Reads the tokens of every pool. Those that the operator named and those of funded pools come before all others. */
export async function readTokensToPrice(
  database: Queryable,
  registry: OperatorRegistry,
  pools: readonly Pick<KnownPool, 'chainId' | 'isFunded' | 'token0' | 'token1'>[],
): Promise<TokensToPrice> {
  const funded = pools.filter(({ isFunded }) => isFunded);
  const important = new Set([
    ...registry.tokens.map(({ chainId, address }) => tokenKey(chainId, address)),
    ...funded.flatMap(({ chainId, token0, token1 }) => [tokenKey(chainId, token0), tokenKey(chainId, token1)]),
  ]);
  const [named, priced, others]: [TokenKey[], TokenKey[], TokenKey[]] = [[], [], []];
  const decimals = new Map<TokenKey, number>();
  for (const { chainId, address, isPriced, ...token } of await allTokens(database, [])) {
    const key = tokenKey(chainId, address);
    if (token.decimals !== null) decimals.set(key, token.decimals);
    (important.has(key) ? named : isPriced ? priced : others).push(key);
  }
  return { first: [...named, ...priced], others, decimals };
}

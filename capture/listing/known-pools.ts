import type { PoolKey } from '../changes/pool-key.ts';
import { type TokenKey, tokenKey } from '../fiat/token-key.ts';
import type { TokenAmounts } from './analytics.ts';
import type { PoolFacts } from './pool-facts.ts';

/** USD per whole token. */
export type Prices = ReadonlyMap<TokenKey, number>;

/** What tells when a pool has to be computed again although nothing of its own changed. */
export type KnownPool = {
  readonly tokens: readonly [TokenKey, TokenKey];
  /** LP-owned, whole tokens; 0 where the token has no decimals. */
  readonly amounts: readonly [number, number];
  /** Whether it is computed again with each change of its tokens' prices. */
  readonly isFunded: boolean;
  /** End of the first window with other figures, Unix seconds; null: its figures are zero, or of liquidity alone. */
  readonly nextChangeAt: number | null;
};

/** What a pool holds and when it changes. */
export type Holdings = Omit<KnownPool, 'isFunded'>;

export function holdings({ chainId, nextChangeAt, ...facts }: PoolFacts, liquidityRaw: TokenAmounts): Holdings {
  const whole = ({ decimals }: PoolFacts['tokens'][0], raw: bigint) =>
    decimals === null ? 0 : Number(raw) / 10 ** decimals;
  const tokens = [tokenKey(chainId, facts.tokens[0].address), tokenKey(chainId, facts.tokens[1].address)] as const;
  const amounts = [whole(facts.tokens[0], liquidityRaw[0]), whole(facts.tokens[1], liquidityRaw[1])] as const;
  return { tokens, amounts, nextChangeAt };
}

/**
 * @param fundedUsd of priced liquidity, from which on a pool is funded
 * @returns null for a pool that nothing but a change of its own can change: it is empty, and nothing happened in its week
 */
export function knownPool(held: Holdings, prices: Prices, fundedUsd: number): KnownPool | null {
  const { amounts, nextChangeAt } = held;
  if (nextChangeAt === null && amounts[0] === 0 && amounts[1] === 0) return null;
  return { ...held, isFunded: usdOf(held, prices) >= fundedUsd };
}

/**
 * Pools whose figures differ because time passed or prices changed. Those in `now` are, or were, funded, or have
 * something enter or leave their window; those in `later` are worth less, so that anyone can have many of them.
 */
export function pastDue(
  known: ReadonlyMap<PoolKey, KnownPool>,
  toTs: number,
  changed: Set<TokenKey>,
  prices: Prices,
  fundedUsd: number,
) {
  const now: PoolKey[] = [];
  const later: PoolKey[] = [];
  for (const [key, pool] of known) {
    const isLate = pool.nextChangeAt !== null && pool.nextChangeAt <= toTs;
    const isPriced = changed.size > 0 && pool.tokens.some((token) => changed.has(token));
    if (isLate || (isPriced && (pool.isFunded || usdOf(pool, prices) >= fundedUsd))) now.push(key);
    else if (isPriced) later.push(key);
  }
  return { now, later };
}

function usdOf({ tokens, amounts }: Pick<KnownPool, 'tokens' | 'amounts'>, prices: Prices): number {
  return amounts[0] * (prices.get(tokens[0]) ?? 0) + amounts[1] * (prices.get(tokens[1]) ?? 0);
}

import { isqrtFloor, Q64 } from '../../protocol/fixed-point.ts';
import type { TokenKey } from '../pools/token-key.ts';
import { type FiatPrice, type FiatPrices, isPlausibleUsd } from './price-sources.ts';

/** A healthy pool whose anchored feeds are confirmed to price its tokens, with its last prices, fees included. */
export type PricingPool = {
  readonly pool: string;
  readonly token0: TokenKey;
  readonly token1: TokenKey;
  readonly sellX64: bigint;
  readonly buyX64: bigint;
  readonly capturedAt: Date;
};

/**
 * Adds prices of tokens that share a pool with a priced token, directly or through further pools. A token in several
 * such pools takes its price from the one with the narrowest spread. Only confirmed pools count: otherwise anyone could
 * create a token, pair it in their own pool, and give it a value.
 */
export function derivePoolPrices(known: FiatPrices, pools: readonly PricingPool[]): FiatPrices {
  const prices = new Map(known);
  const usable = pools.filter(({ sellX64, buyX64 }) => sellX64 > 0n && buyX64 >= sellX64).sort(byNarrowestSpread);
  for (let grew = true; grew; ) {
    const found = new Map<TokenKey, FiatPrice>();
    for (const pool of usable) {
      const derived = deriveFrom(pool, prices);
      if (derived && !found.has(derived.token)) found.set(derived.token, derived.price);
    }
    for (const [token, price] of found) prices.set(token, price);
    grew = found.size > 0;
  }
  return prices;
}

function deriveFrom(
  pool: PricingPool,
  prices: FiatPrices,
): { readonly token: TokenKey; readonly price: FiatPrice } | null {
  const price0 = prices.get(pool.token0);
  const price1 = prices.get(pool.token1);
  const base = price0 ?? price1;
  if (!base || (price0 && price1)) return null;
  const token1PerToken0 = midPrice(pool);
  const usd = price0 ? base.usd / token1PerToken0 : base.usd * token1PerToken0;
  if (!isPlausibleUsd(usd)) return null;
  const pricedAt = new Date(Math.min(base.pricedAt.getTime(), pool.capturedAt.getTime()));
  return { token: price0 ? pool.token1 : pool.token0, price: { usd, source: 'pool', pricedAt } };
}

/** Gives whole token1 per whole token0: the geometric mean of both sides, in which equal fees cancel out. */
function midPrice({ sellX64, buyX64 }: PricingPool): number {
  return Number(isqrtFloor(sellX64 * buyX64)) / Number(Q64);
}

/** Compares buy / sell exactly, by cross products. Ties go by address, so that every run gives the same prices. */
function byNarrowestSpread(a: PricingPool, b: PricingPool): number {
  const left = a.buyX64 * b.sellX64;
  const right = b.buyX64 * a.sellX64;
  if (left !== right) return left < right ? -1 : 1;
  return a.pool < b.pool ? -1 : 1;
}

import type { BlockRef } from '../chain/read-context.ts';
import type { ServedPool } from './pools/pool-directory.ts';
import type { DepthSnapshot, PriceSnapshot } from './types.ts';

const FREE = { out: null, in: null };

/** A healthy snapshot of a pool that buys at a price, and sells one unit above it. Its curve is unknown. */
export const pricedAt = (
  price: bigint,
  pool: ServedPool,
  block: BlockRef,
  changes: Partial<PriceSnapshot> = {},
): PriceSnapshot => ({
  pool,
  block,
  readAt: 0,
  hasSource: false,
  status: 'healthy',
  bidX64: price,
  askX64: price + 1n,
  balance0Raw: 1n,
  balance1Raw: 1n,
  depth: null,
  hasLivePrice: false,
  curve: null,
  limits: { token0: FREE, token1: FREE },
  fingerprint: '',
  ...changes,
});

/** The same snapshot with one level, of as many units as its price. */
export function withOneLevel(prices: PriceSnapshot): DepthSnapshot {
  const price = prices.bidX64;
  const level = { bin: 0, priceX64: price, cumulativeOutput: price, cumulativeInput: price, priceImpactE6: 0n };
  return { ...prices, curve: undefined, depth: { bids: [level], asks: [] } };
}

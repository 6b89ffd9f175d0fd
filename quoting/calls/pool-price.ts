import type { BoundedCall, CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { LayoutAdapter } from '../../protocol/layout.ts';
import { type ListedStatus, quoteStatus } from '../../protocol/quote-status.ts';
import { type ProbedPool, pauseLevelCall, priceCall } from './probe-calls.ts';

/** Sides of a pool that do not trade although it has prices. */
export type ClosedSides = Readonly<Record<'bids' | 'asks', boolean>>;

/** What one read gives of a pool's price. Prices include the pool's fees, Q64.64; null unless they were read. */
export type PoolPrice = {
  readonly status: ListedStatus;
  readonly sellX64: bigint | null;
  readonly buyX64: bigint | null;
};

/** The calls whose results {@link readPoolPrice} takes: prices through the pool, and its pause level. */
export const poolPriceCalls = (pool: ProbedPool): BoundedCall[] => [priceCall(pool), pauseLevelCall(pool)];

/**
 * Decodes the prices and the status of a pool.
 *
 * @param results begin with those of {@link poolPriceCalls}; an empty list when the node could not run them
 * @param closed sides that guards close, and sides whose tokens do not move
 */
export function readPoolPrice(results: readonly CallResult[], layout: LayoutAdapter, closed: ClosedSides): PoolPrice {
  const [prices, pause] = results;
  const quote = prices ? layout.prices.decode(prices) : 'unread';
  const pauseLevel = pause ? layout.state.decodePauseLevel(pause) : null;
  const isRead = typeof quote !== 'string';
  const price = isRead ? 'read' : quote;
  const status = quoteStatus({ price, pauseLevel, bidsRejected: closed.bids, asksRejected: closed.asks });
  return {
    status: status === 'internal_error' ? 'unknown' : status,
    sellX64: isRead ? quote.sellX64 : null,
    buyX64: isRead ? quote.buyX64 : null,
  };
}

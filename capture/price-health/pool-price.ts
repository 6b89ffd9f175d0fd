import type { Address } from 'viem';
import type { LayoutAdapter } from '../../protocol/layout.ts';
import { decodePriceFailure, type PriceFailure, quoteStatus } from '../../protocol/quote-status.ts';
import type { CallResult, PoolCall } from './multicall.ts';

/** Status as the listing shows it: a fault on our side is no fault of the feed, so it is `unknown` there. */
export type ListedStatus = 'healthy' | 'feed_down' | 'pool_refused' | 'pool_paused' | 'unknown';

/** What one reading says of a pool's price. Prices include the pool's fees, Q64.64; null unless they were read. */
export type PoolPrice = {
  readonly status: ListedStatus;
  readonly sellX64: bigint | null;
  readonly buyX64: bigint | null;
  /** True when the reading says nothing that a pool would say: worth another try by itself. */
  readonly unexplained: boolean;
};

/** Bytes of two words, and of a dynamic array of one. */
const TWO_WORDS_LENGTH = 2 + 2 * 64;

export const CALLS_PER_POOL = 2;

/** The calls whose results {@link readPoolPrice} takes: prices through the pool, and the slot with the pause level. */
export function poolPriceCalls(pool: Address, layout: LayoutAdapter): PoolCall[] {
  return [
    { target: pool, data: layout.quote.sellAndBuyPricesCall },
    { target: pool, data: layout.storage.encodeExtsload(layout.storage.headSlots) },
  ];
}

export function readPoolPrice(results: readonly CallResult[], layout: LayoutAdapter): PoolPrice {
  const [prices, head] = results;
  const quote = prices ? readPrices(prices, layout) : 'unexplained';
  const pauseLevel = head ? readPauseLevel(head, layout) : null;
  const isRead = typeof quote !== 'string';
  const status = quoteStatus({ price: isRead ? 'read' : quote, pauseLevel, bidsRefused: false, asksRefused: false });
  return {
    status: status === 'internal_error' ? 'unknown' : status,
    sellX64: isRead ? quote.sellX64 : null,
    buyX64: isRead ? quote.buyX64 : null,
    unexplained: quote === 'unexplained' || pauseLevel === null,
  };
}

function readPrices({ success, data }: CallResult, layout: LayoutAdapter) {
  if (!success) return decodePriceFailure(data);
  // A call of an address without code succeeds with no data.
  if (data.length < TWO_WORDS_LENGTH) return 'unexplained' satisfies PriceFailure;
  return layout.quote.decodeSellAndBuyPrices(data);
}

function readPauseLevel({ success, data }: CallResult, layout: LayoutAdapter): number | null {
  if (!success || data.length < TWO_WORDS_LENGTH) return null;
  return layout.storage.decodeHead(layout.storage.decodeExtsload(data)).pauseLevel;
}

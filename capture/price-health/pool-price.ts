import type { Address } from 'viem';
import type { BoundedCall, CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { LayoutAdapter } from '../../protocol/layout.ts';
import { decodePriceFailure, type PriceFailure, quoteStatus } from '../../protocol/quote-status.ts';

/** Status as the listing shows it: a fault on our side is no fault of the feed, so it is `unknown` there. */
export type ListedStatus = 'healthy' | 'feed_down' | 'pool_refused' | 'pool_paused' | 'unknown';

/** What one reading says of a pool's price. Prices include the pool's fees, Q64.64; null unless they were read. */
export type PoolPrice = {
  readonly status: ListedStatus;
  readonly sellX64: bigint | null;
  readonly buyX64: bigint | null;
};

const TWO_WORDS = 2 * 32;
/** Characters of two words in hex, and of a dynamic array of one. */
const TWO_WORDS_LENGTH = 2 + 2 * TWO_WORDS;
/** A price comes with its provider and oracle, which may be anyone's. */
const PRICES = { likelyGas: 250_000, gasLimit: 3_000_000, keptBytes: TWO_WORDS };
const HEAD = { likelyGas: 20_000, gasLimit: 50_000 };

/** The calls whose results {@link readPoolPrice} takes: prices through the pool, and the slots with the pause level. */
export function poolPriceCalls(pool: Address, layout: LayoutAdapter): BoundedCall[] {
  const { headSlots } = layout.storage;
  return [
    { target: pool, data: layout.quote.sellAndBuyPricesCall, ...PRICES },
    {
      target: pool,
      data: layout.storage.encodeExtsload(headSlots),
      keptBytes: TWO_WORDS + headSlots.length * 32,
      ...HEAD,
    },
  ];
}

/** @param results begin with what {@link poolPriceCalls} gave; none when the node could not run them */
export function readPoolPrice(results: readonly CallResult[], layout: LayoutAdapter): PoolPrice {
  const [prices, head] = results;
  const quote = prices ? readPrices(prices, layout) : 'unread';
  const pauseLevel = head ? readPauseLevel(head, layout) : null;
  const isRead = typeof quote !== 'string';
  const status = quoteStatus({ price: isRead ? 'read' : quote, pauseLevel, bidsRefused: false, asksRefused: false });
  return {
    status: status === 'internal_error' ? 'unknown' : status,
    sellX64: isRead ? quote.sellX64 : null,
    buyX64: isRead ? quote.buyX64 : null,
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

import {
  type ExactInQuote,
  type ExactOutQuote,
  type Level,
  maxIn,
  maxOut,
  quoteExactIn,
  quoteExactOut,
} from './exact-quotes.ts';
import { integerField } from './integer-field.ts';

/** `bids` sells token0 for token1, `asks` buys token0 with token1. */
export type Side = 'bids' | 'asks';

/** The fields of a quote by which {@link isTradable} judges it. */
export interface TradableQuote {
  readonly priceProviderStatus: string;
  readonly bidAdj: string;
  readonly askAdj: string;
  /** When its snapshot was read, Unix seconds. */
  readonly serverTs: number;
  readonly depth: { readonly bids: readonly Level[]; readonly asks: readonly Level[] } | null;
}

export interface TradableOptions {
  /**
   * Highest time since a quote was read, milliseconds. The error of your clock must be smaller. A pool is read once a
   * block, so it is longer than the chain's block time. The block may have been older than that when it was read, by up
   * to the service's `quotes.maxAgeMs`: `X-Block-Age-Ms` says how old, which the option `fetch` of a client gets, and
   * `block.timestamp` of a stream.
   */
  readonly maxAgeMs: number;
  /** The side to trade on. Default: both have to be open. */
  readonly side?: Side;
  /** The time to judge at, Unix milliseconds. Default: now. */
  readonly nowMs?: number;
}

/** The quote of a pool that may take an order, and the side that would take it. */
export interface Candidate<Q extends TradableQuote = TradableQuote> {
  readonly quote: Q;
  readonly side: Side;
}

/** `bidAdj` and `askAdj` of a closed side. */
const CLOSED: Readonly<Record<Side, bigint>> = { bids: 0n, asks: 2n ** 128n - 1n };

/**
 * Whether a quote may be traded on: healthy, open, and neither older than allowed nor from the future.
 *
 * @param quote of the API, requested with depth: without depth a closed side may show a price
 * @param options highest age of a quote to trade on, and the side
 * @returns false in case of doubt
 * @throws MissingFieldError
 * @example
 * if (!isTradable(quote, { maxAgeMs: 15_000, side: 'bids' })) return;
 */
export function isTradable(
  { priceProviderStatus, bidAdj, askAdj, serverTs }: TradableQuote,
  { maxAgeMs, side, nowMs = Date.now() }: TradableOptions,
): boolean {
  const isOpen = {
    bids: integerField('bidAdj', bidAdj) !== CLOSED.bids,
    asks: integerField('askAdj', askAdj) !== CLOSED.asks,
  };
  const areOpen = side ? isOpen[side] : isOpen.bids && isOpen.asks;
  return priceProviderStatus === 'healthy' && areOpen && Math.abs(nowMs - serverTs * 1_000) <= maxAgeMs;
}

/**
 * Finds the pool that gives most for an exact input. It skips pools that are not tradable or not deep enough.
 *
 * @param candidates pools with the side that takes the order: `bids` where the input is token0
 * @param amountIn input, raw units, above 0
 * @returns the best candidate with its output, the first of equals; null when no candidate gives a raw unit
 * @example const best = bestPoolExactIn([{ quote, side: 'bids' }, { quote: other, side: 'asks' }], 10n ** 18n, {
 *   maxAgeMs: 15_000 });
 */
export function bestPoolExactIn<C extends Candidate>(
  candidates: readonly C[],
  amountIn: bigint,
  options: Omit<TradableOptions, 'side'>,
): (C & ExactInQuote) | null {
  const fills = tradable(candidates, options)
    .filter(({ levels }) => amountIn <= maxIn(levels))
    .map(({ candidate, levels }) => ({ ...candidate, ...quoteExactIn(levels, amountIn) }))
    .filter(({ amountOutFloor }) => amountOutFloor > 0n);
  return firstBest(fills, (one, other) => one.amountOutFloor > other.amountOutFloor);
}

/**
 * Finds the pool that asks least for an exact output. It skips pools that are not tradable or not deep enough.
 *
 * @param candidates pools with the side that takes the order: `bids` where the input is token0
 * @param amountOut output, raw units, above 0
 * @returns the best candidate with its input, the first of equals; null when no candidate is deep enough
 */
export function bestPoolExactOut<C extends Candidate>(
  candidates: readonly C[],
  amountOut: bigint,
  options: Omit<TradableOptions, 'side'>,
): (C & ExactOutQuote) | null {
  const fills = tradable(candidates, options)
    .filter(({ levels }) => amountOut > 0n && amountOut <= maxOut(levels))
    .map(({ candidate, levels }) => ({ ...candidate, ...quoteExactOut(levels, amountOut) }));
  return firstBest(fills, (one, other) => one.amountInCeil < other.amountInCeil);
}

function tradable<C extends Candidate>(candidates: readonly C[], options: Omit<TradableOptions, 'side'>) {
  return candidates
    .filter(({ quote, side }) => isTradable(quote, { ...options, side }))
    .map((candidate) => ({ candidate, levels: candidate.quote.depth?.[candidate.side] ?? [] }));
}

const firstBest = <T>(all: readonly T[], isBetter: (one: T, other: T) => boolean): T | null =>
  all.reduce<T | null>((best, each) => (best === null || isBetter(each, best) ? each : best), null);

/** Seconds after which a captured price status is listed as `unknown`. */
export const PRICE_STATUS_MAX_AGE_SECS = 60;

/**
 * Why a pool gave no price.
 * - `feedDown`: the provider failed, be it a stalled feed or the oracle's own error;
 * - `quoteRefused`: the feed quoted, but no pool trades on a bid of zero or a bid above the ask;
 * - `paused`: the pool reports no price while it is paused;
 * - `unexplained`: it reverted without data, or with data that says nothing of the feed, such as a panic;
 * - `unread`: it was not asked, or its answer could not be read: a fault on our side.
 */
export type PriceFailure = 'feedDown' | 'quoteRefused' | 'paused' | 'unexplained' | 'unread';

/**
 * Statuses of a quote. `internal_error` is a fault on our side, not of the feed, so listings show `unknown` instead.
 */
export const QUOTE_STATUSES = [
  'healthy',
  'feed_down',
  'pool_refused',
  'pool_paused',
  'internal_error',
  'unknown',
] as const;
export type PriceProviderStatus = (typeof QUOTE_STATUSES)[number];

/** Statuses in listings and history. */
export const LISTED_STATUSES = ['healthy', 'feed_down', 'pool_refused', 'pool_paused', 'unknown'] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

/** What is known of a pool when its status is asked for. */
export interface StatusFacts {
  /** 'read' when the pool has a tradable quote. */
  readonly price: 'read' | PriceFailure;
  /** Null when it could not be read. */
  readonly pauseLevel: number | null;
  /** Whether guards reject the smallest swap of a side. */
  readonly bidsRejected: boolean;
  readonly asksRejected: boolean;
}

/** The first rule that applies gives the status: a paused pool with a down feed shows the feed. */
const STATUS_RULES: readonly { status: PriceProviderStatus; applies: (facts: StatusFacts) => boolean }[] = [
  { status: 'internal_error', applies: ({ price }) => price === 'unread' },
  { status: 'unknown', applies: ({ price }) => price === 'unexplained' },
  { status: 'feed_down', applies: ({ price }) => price === 'feedDown' },
  { status: 'pool_refused', applies: ({ price }) => price === 'quoteRefused' },
  { status: 'pool_paused', applies: ({ price }) => price === 'paused' },
  { status: 'unknown', applies: ({ pauseLevel }) => pauseLevel === null },
  { status: 'pool_paused', applies: ({ pauseLevel }) => pauseLevel !== 0 },
  { status: 'pool_refused', applies: ({ bidsRejected, asksRejected }) => bidsRejected && asksRejected },
];

export function quoteStatus(facts: StatusFacts): PriceProviderStatus {
  return STATUS_RULES.find(({ applies }) => applies(facts))?.status ?? 'healthy';
}

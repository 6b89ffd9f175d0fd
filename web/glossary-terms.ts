import type { ReasonCode } from '../protocol/classification.ts';
import type { Pool, Quote } from './api.ts';

/** A word of the page and what it means. */
export type Term = { readonly label: string; readonly meaning: string };

/** Why a pool is not green. The last two are reserved: no pool has them. */
export const REASONS: Readonly<
  Record<ReasonCode | 'reference_source_unrecognized' | 'external_source_unreviewed', Term>
> = {
  bin_width_exceeded: { label: 'wide bins', meaning: 'A bin is wider than 1 %, so one price step is that large.' },
  stop_loss_missing: {
    label: 'no stop loss',
    meaning: 'No StopLoss runs after swaps: nothing ends trading in a fall.',
  },
  stop_loss_uninitialized: { label: 'stop loss not set', meaning: 'A StopLoss is attached, but was never set up.' },
  stop_loss_mutable: {
    label: 'stop loss can change',
    meaning: 'The curator can still change the settings of the StopLoss.',
  },
  stop_loss_drawdown_exceeded: { label: 'stop loss wide', meaning: 'The StopLoss lets bins lose more than 15 %.' },
  stop_loss_decay_exceeded: {
    label: 'stop loss decays fast',
    meaning: 'The mark of the StopLoss falls by more than 15 % a day.',
  },
  app_missing: {
    label: 'price not anchored',
    meaning: 'The price provider is not an anchored one: nothing bounds what it quotes.',
  },
  app_mutable: {
    label: 'price rules can change',
    meaning: 'The parameters of the anchored price provider can still change.',
  },
  feed_staleness_exceeded: {
    label: 'old prices taken',
    meaning: 'The provider takes a feed price that is more than 15 seconds old.',
  },
  price_provider_mutable: { label: 'provider can change', meaning: 'The pool can be given another price provider.' },
  curator_unverified: {
    label: 'curator unverified',
    meaning: 'The operator of this service has not verified the curator.',
  },
  curator_not_creator: {
    label: 'curator is not creator',
    meaning: 'The pool was handed to another account than the one that made it.',
  },
  remove_liquidity_extension_present: {
    label: 'withdrawals can be held',
    meaning: 'An extension runs when liquidity is removed, and could refuse it.',
  },
  anchored_feed_unmatched: {
    label: 'feed not confirmed',
    meaning: "The provider's feeds are not known to price these tokens. It lowers the pool by one tier.",
  },
  multiplier_feed_miswired: {
    label: 'multiplier feed wrong',
    meaning: 'A feed of a tokenized stock is bound wrongly, or skips the multiplier of its issuer.',
  },
  multiplier_token_unscaled: {
    label: 'multiplier ignored',
    meaning: 'A tokenized stock is priced by an oracle that does not know the multiplier of its issuer.',
  },
  reference_source_unrecognized: { label: 'reference source unknown', meaning: 'Reserved: no pool has this code.' },
  external_source_unreviewed: { label: 'external source unreviewed', meaning: 'Reserved: no pool has this code.' },
};

/** What a pool's price is like. */
export const STATUSES: Readonly<Record<Pool['priceProviderStatus'] | Quote['priceProviderStatus'], Term>> = {
  healthy: { label: 'healthy', meaning: 'The provider gives a usable price: the pool can be traded on.' },
  feed_down: { label: 'feed down', meaning: 'The feed has no valid price now. Do not trade.' },
  pool_refused: { label: 'refused', meaning: 'There is a price, but the pool refuses to trade on it, on both sides.' },
  pool_paused: { label: 'paused', meaning: 'The curator has paused the pool.' },
  unknown: { label: 'unknown', meaning: 'There is no recent reading, or nothing explains why there is no price.' },
  internal_error: {
    label: 'not read',
    meaning: 'This service could not read the price. It is no fault of the pool; it tries again.',
  },
};

/** How far a pool can be trusted by what its contracts allow. */
export const TIERS: Readonly<Record<Pool['classificationSummary']['tierQualification'], Term>> = {
  green: { label: 'green', meaning: 'No reason against it was found.' },
  yellow: { label: 'yellow', meaning: 'Something about it can change, or is wider than usual: see its reasons.' },
  red: { label: 'red', meaning: 'A protection is missing, or its price may be wrong: see its reasons.' },
  unclassified: { label: 'unclassified', meaning: 'It has not been looked at yet.' },
  black: { label: 'delisted', meaning: 'The operator of this service has taken it off the list.' },
};

/** Words of the tables. */
export const FIGURES = {
  bid: { label: 'Bid', meaning: 'What selling one token0 pays in token1 at best, after spread and fees.' },
  ask: { label: 'Ask', meaning: 'What buying one token0 costs in token1 at best, after spread and fees.' },
  spread: { label: 'Spread', meaning: 'Ask less bid, in basis points (hundredths of a percent) of their middle.' },
  impact: {
    label: 'Impact',
    meaning: 'How far the last price that an order reaches is from the best one. The average is better.',
  },
  tvl: { label: 'TVL', meaning: 'What liquidity providers own in the pool, in US dollars.' },
  volume: { label: 'Volume 24 h', meaning: 'Swapped in the last 24 hours, each swap counted once, in US dollars.' },
  change: { label: '24 hours', meaning: 'How the price moved: middles of bid and ask, or else prices of trades.' },
  depth: {
    label: 'Depth 1 %',
    meaning:
      'What can be traded within 1 % of the price, both sides, in US dollars. Sampled of the most valuable pools.',
  },
  apr: {
    label: 'APR',
    meaning: "Liquidity providers' fees of the last 24 hours (or 7 days), over a year, as a share of TVL.",
  },
  age: {
    label: 'Age',
    meaning:
      'Since the price was read from the chain: amber after 30 seconds, red after 90. Do not trade on a red one.',
  },
} as const satisfies Readonly<Record<string, Term>>;

/** Gives the term of a reason. A code that is unknown to this build of the page is shown as it is. */
export const reasonOf = (code: string): Term =>
  code in REASONS ? REASONS[code as keyof typeof REASONS] : { label: code.replaceAll('_', ' '), meaning: '' };

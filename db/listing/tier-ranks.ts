import type { poolListings } from '../schema/operator.ts';

/** Order of tiers in the listing, best highest; `black` is a delisted pool. */
export const TIER_RANKS: Readonly<Record<(typeof poolListings.$inferSelect)['tier'], number>> = {
  green: 4,
  yellow: 3,
  red: 2,
  unclassified: 1,
  black: 0,
};

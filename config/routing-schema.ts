import { z } from 'zod';

const millionths = z.int().min(0).max(1_000_000);

/** When the route finder splits an order, and how many pools it reads. The values are not shown to clients. */
export const RoutingConfig = z.strictObject({
  /** The best single route is not split while its price impact is below this, in millionths. */
  splitThresholdE6: millionths.default(500),
  /** What a split must gain over the best single route to be returned, in millionths. */
  minImprovementE6: millionths.default(100),
  /** The least part of an order that a route of a split may have, in millionths. */
  minLegFractionE6: millionths.default(20_000),
  /** Most pools of a pair and direction that are read for a request. */
  maxPoolsPerPair: z.int().min(1).default(24),
  /** Most pools that are read for a request; a simulated one counts as five, and a path may have two. */
  maxPoolsPerRequest: z.int().min(10).default(100),
  /** Tokens that are looked at in search of middle tokens: of each ranking, and of the graph. */
  maxTokensSearched: z.int().positive().default(2_000),
  /** Pools of a chain whose depth is remembered for the choice of pools, those read last: about 1 KB each. */
  rememberedPools: z.int().positive().default(5_000),
});

export type RoutingConfig = z.infer<typeof RoutingConfig>;

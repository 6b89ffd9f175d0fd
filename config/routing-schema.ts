import { z } from 'zod';

const millionths = z.int().min(0).max(1_000_000);

/** When the route finder splits an order, in millionths. The values are not shown to clients. */
export const RoutingConfig = z.strictObject({
  /** The best single route is not split while its price impact is below this. */
  splitThresholdE6: millionths.default(500),
  /** What a split must gain over the best single route to be returned. */
  minImprovementE6: millionths.default(100),
  /** The least part of an order that a route of a split may have. */
  minLegFractionE6: millionths.default(20_000),
});

export type RoutingConfig = z.infer<typeof RoutingConfig>;

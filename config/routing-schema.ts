import { z } from 'zod';

const millionths = z.int().min(0).max(1_000_000);

/** When the route finder splits an order, and how many pools it reads. The values are not shown to clients. */
export const RoutingConfig = z.strictObject({
  /** The best single route is not split while its price impact is below this, in millionths. */
  splitThresholdE6: millionths.default(500),
  /** What a split must gain over the best single route to be returned, in millionths. */
  minImprovementE6: millionths.default(100),
  /** Limit of the pools that are read for a request; a simulated one counts as five. A pair has a quarter of them. */
  maxPoolsPerRequest: z.int().min(10).default(100),
});

export type RoutingConfig = z.infer<typeof RoutingConfig>;

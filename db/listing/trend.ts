import { z } from '@hono/zod-openapi';
import { FiatNumber } from './pool-analytics.ts';

/** How the price of a pool moved in 24 hours, and what can be traded near it. */
export const Trend = z.strictObject({
  changeE6: z
    .number()
    .nullable()
    .describe('From the first price of 24 hours to the last one, millionths; null with fewer than two prices.'),
  depthFiat: FiatNumber.nullable().describe(
    'Both sides within 100 bps of the price together, as last sampled in 24 hours, USD; null when not known.',
  ),
});
export type Trend = z.infer<typeof Trend>;

export const TREND_EXAMPLE: Trend = { changeE6: 9500, depthFiat: 7000 };

export const Sums = z
  .strictObject({
    tvlFiat: FiatNumber.nullable().describe('Current TVL, USD; null when that of no pool is known.'),
    volumeFiat: FiatNumber.nullable().describe('Swapped in 24 hours, USD; null when that of no pool is known.'),
    depthFiat: FiatNumber.nullable().describe('Depth within 100 bps, USD; null when that of no pool is known.'),
  })
  .openapi('PoolSums', {
    description: 'What the pools of all pages have together, unknown figures left out; only with include24h=true.',
  });
export type Sums = z.infer<typeof Sums>;

export const SUMS_EXAMPLE: Sums = { tvlFiat: 24000, volumeFiat: 4500, depthFiat: 7000 };

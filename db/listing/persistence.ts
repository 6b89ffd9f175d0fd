import { z } from '@hono/zod-openapi';
import { Share } from './executability.ts';

/** When quotes are compared with what the pool gives then; the last two at live prices. */
export const HORIZONS = ['1_block', '2_blocks', '5_blocks', '200_ms', '1_s'] as const;

/** Basis points that a taker loses at a horizon. */
const Bps = z.number().max(10_000);

/** Whether the quotes of a pool held in 24 hours. */
export const Persistence = z.strictObject({
  medianBps: Bps.describe(
    'Median of what quotes lost for the taker one block later, basis points; negative: they became better. A withdrawn quote lost 10000.',
  ),
  p95Bps: Bps.describe('95 of 100 quotes lost at most this.'),
  withdrawnShare: z.number().min(0).max(1).describe('Share of quotes that did not fill any more.'),
  goneShare: Share.describe(
    'Depth within 10 bps that was gone in the next block, as a share of what was shown; null when not known.',
  ),
});
export type Persistence = z.infer<typeof Persistence>;

export const PERSISTENCE_EXAMPLE: Persistence = { medianBps: 0, p95Bps: 1.4, withdrawnShare: 0.002, goneShare: 0.03 };

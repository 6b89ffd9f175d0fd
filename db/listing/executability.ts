import { z } from '@hono/zod-openapi';

export const Share = z.number().min(0).max(1).nullable();

/** How often a pool could be traded with. Capture samples funded pools once a minute. */
export const Executability = z.strictObject({
  committedShare: Share.describe('Share of sampled blocks at whose end the pool traded; null without a sample.'),
  liveShare: Share.describe(
    'Share of sampled blocks on which the next one was being built with a live price, at which the pool traded: none while sources are silent. Null without a source of live prices.',
  ),
  ownLandedShare: Share.describe(
    'Of the blocks that published updates for this pool were for, the share in which one landed; null without such updates.',
  ),
  sealedShare: Share.describe(
    'Of the blocks that quotes were read in after their last part, the share in which the pool was the same once the block was sealed; null without such blocks.',
  ),
});
export type Executability = z.infer<typeof Executability>;

export const EXECUTABILITY_EXAMPLE: Executability = {
  committedShare: 0.55,
  liveShare: 0.98,
  ownLandedShare: 0.31,
  sealedShare: null,
};

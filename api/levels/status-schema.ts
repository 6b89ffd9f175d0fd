import { z } from '@hono/zod-openapi';
import { documented } from '../declaration/documented.ts';

const Count = z.int().nonnegative();

/** Result of `pamm_status`. */
export const StatusResult = documented(
  'TakerStatus',
  'The result of `pamm_status`. Counts of clients are of one process.',
  {
    ready: z.boolean().describe('False while the newest block of the chain is late: there are no quotes.'),
    targetBlock: Count.describe('The block that is being built; 0 when no block is known.'),
    quotes: Count.describe('Venues whose state overrides are passed on.'),
    liveQuotes: Count.describe('The same: none is held that is not live.'),
    overlaySlots: Count.describe('Storage slots of these overrides.'),
    builders: z.array(z.string()).describe('Builders that this service sends quote updates to, by name.'),
    pendingBundles: Count.describe('Always 0: no bundles are made.'),
    maxQuoteAgeMs: Count.describe(
      'State overrides that were not renewed for longer are not used; 0: there are no sources.',
    ),
    quoteStreamSubscribers: Count.describe('Subscriptions of state overrides.'),
    priceLevels: z
      .strictObject({
        intervalMs: Count.describe('Shortest time between two frames.'),
        subscribers: Count.describe('Subscriptions of price levels.'),
        pamms: Count.describe('Venues of the last frame.'),
        levels: Count.describe('Levels of the last frame.'),
        computedAt: Count.describe('When the last frame was made, Unix milliseconds; 0: none was.'),
        lastComputeMs: Count.describe('How long that took.'),
      })
      .describe('Price levels.'),
  },
);
export type StatusResult = z.output<typeof StatusResult>;

export const STATUS_EXAMPLE = {
  ready: true,
  targetBlock: 40043188,
  quotes: 3,
  liveQuotes: 3,
  overlaySlots: 6,
  builders: ['titan'],
  pendingBundles: 0,
  maxQuoteAgeMs: 1333,
  quoteStreamSubscribers: 2,
  priceLevels: { intervalMs: 250, subscribers: 5, pamms: 12, levels: 540, computedAt: 1794999975000, lastComputeMs: 3 },
} satisfies StatusResult;

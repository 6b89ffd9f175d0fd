import { z } from '@hono/zod-openapi';
import { LISTED_STATUSES } from '../../protocol/quote-status.ts';
import { BASES } from '../../quoting/quote-basis.ts';
import { MAX_BARS } from '../bars/intervals.ts';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { poolParams } from '../declaration/pool-page.ts';
import { Amount, Before, HISTORY, historyPage, limitOf, Price } from './declare-page.ts';

export const RawDepthQuery = z.object({
  interval: z.enum(['1m', '1h']).optional().openapi({
    default: '1m',
    example: '1m',
    description: 'Samples of minutes, or the last of each hour, kept longer.',
  }),
  before: Before,
  limit: limitOf(MAX_BARS),
});

export const Band = z.strictObject({
  bps: z.int().describe('Distance from mid, basis points.'),
  bidRaw: Amount.nullable().describe(
    'token1 that the pool gives for the largest input after which the bid is within the distance, raw units; null when not known.',
  ),
  askRaw: Amount.nullable().describe('The same of token0 and the ask.'),
});

const Sample = documented('DepthSample', 'What a pool quoted at a block.', {
  ts: z.int().describe('Time of the block, of an hour its start, Unix seconds.'),
  blockNumber: z.int().nullable().describe('Block that was read; null of an hour.'),
  status: z.enum(LISTED_STATUSES).describe('What the pool did at the block.'),
  basis: z
    .enum(BASES)
    .nullable()
    .describe('`live`: in the block that was being built on it, without depth. Null of an hour, which has both.'),
  bidX64: Price.describe('Price to sell token0 at, fees included, Q64.64; null unless read.'),
  askX64: Price.describe('Price to buy token0 at.'),
  depth: z.array(Band).nullable().describe('By distance from the mean of both prices; null unless read.'),
});
export type DepthSample = z.output<typeof Sample>;

export const DepthPage = historyPage('DepthSamplesPage', 'Samples of what a pool quoted.', Sample);
export type DepthPage = z.output<typeof DepthPage>;

const DEPTH_EXAMPLE: DepthPage = {
  data: [
    {
      ts: 1_794_996_012,
      blockNumber: 21_000_000,
      status: 'healthy',
      basis: 'committed',
      bidX64: '55312562105018090520576',
      askX64: '55340232221128654848000',
      depth: [10, 25, 50, 100].map((bps) => ({
        bps,
        bidRaw: `${bps * 40}000000`,
        askRaw: `${bps}0000000000000000`,
      })),
    },
  ],
  nextBefore: null,
};

export const listDepth = {
  operationId: 'listDepth',
  path: '/public/v1/evm/{chain_id}/{pool_address}/depth_history',
  ...HISTORY,
  summary: 'List what one pool quoted, with depth',
  description:
    'Samples of funded pools, about one a minute and at changes of status, newest first. Depth is known of the most valuable ' +
    'pools, guards applied. A Trading API key is optional and raises the rate limit.',
  request: { params: poolParams, query: RawDepthQuery },
  answer: { description: 'A page of samples', schema: DepthPage, example: DEPTH_EXAMPLE },
} as const satisfies ApiRoute;

import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { ChainIdPath, errorResponse } from '../declaration/responses.ts';
import { HISTORY } from './declare-page.ts';
import { Band } from './depth-declaration.ts';

/** Seconds between two prices of a trend, and their number: a day. */
export const STEP_SECS = 900;
export const STEPS = 96;
export const MAX_TRENDS = 100;

export const RawTrendsQuery = z.object({
  addresses: z.string().openapi({
    example: EXAMPLE.pool,
    description: `Of these pools: at most ${MAX_TRENDS}, separated by commas.`,
  }),
});

const Trend = documented('PoolTrend', 'How the price of a pool moved in 24 hours.', {
  poolAddress: z.string().describe('Pool, lowercase address.'),
  changesE6: z
    .array(z.int().nullable())
    .length(STEPS)
    .describe(
      'Last price of each quarter of an hour, oldest first, that of the newest indexed block last: change from the first that is not null, ' +
        'millionths, rounded towards zero, 2^53 - 1 at most. The middle of bid and ask, or else the price of a trade; null without either.',
    ),
  depth: Band.nullable().describe('Depth within 100 bps, as last sampled in these 24 hours; null when not known.'),
});
export type PoolTrend = z.output<typeof Trend>;

export const TrendsPage = documented('PoolTrends', 'Trends of pools of one chain.', {
  data: z.array(Trend).describe('In the order of the request, without pools that are not served.'),
});
export type TrendsPage = z.output<typeof TrendsPage>;

const EXAMPLE_PAGE: TrendsPage = {
  data: [
    {
      poolAddress: EXAMPLE.pool,
      changesE6: Array.from({ length: STEPS }, (_, step) => step * 100),
      depth: { bps: 100, bidRaw: '4000000000', askRaw: '1000000000000000000' },
    },
  ],
};

export const listTrends = {
  operationId: 'listTrends',
  path: '/public/v1/evm/{chain_id}/trends',
  ...HISTORY,
  summary: 'List the price changes of several pools in 24 hours',
  description:
    'For a list of pools: what a small chart of each shows, and how much could be traded near its price. A Trading API key ' +
    'is optional and raises the rate limit.',
  request: { params: z.object({ chain_id: ChainIdPath }), query: RawTrendsQuery },
  answer: { description: 'The trends', schema: TrendsPage, example: EXAMPLE_PAGE },
  failures: { ...HISTORY.failures, 404: errorResponse('Unknown chain') },
} as const satisfies ApiRoute;

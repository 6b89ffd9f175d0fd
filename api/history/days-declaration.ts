import { z } from '@hono/zod-openapi';
import { EXECUTABILITY_EXAMPLE, Executability } from '../../db/listing/executability.ts';
import { HORIZONS } from '../../db/listing/persistence.ts';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { poolParams } from '../declaration/pool-page.ts';
import { Amount, Before, HISTORY, historyPage, limitOf } from './declare-page.ts';

export const MAX_DAYS = 400;
/** Trades and liquidity changes of a page of several days: ten times as many take longer than a statement may. */
export const MAX_EVENTS = 50_000;

export const RawDaysQuery = z.object({ before: Before, limit: limitOf(MAX_DAYS) });

const Share = z.number().min(0).max(1);
const NumberOrNull = z.number().nullable();
const FillQuality = documented(
  'FillQuality',
  'What final trades got, beside what the pool quoted for their input at the end of the block before.',
  {
    comparedCount: z.int().describe('Trades that were compared with a quote.'),
    medianBps: NumberOrNull.describe('Median of the difference, basis points; negative: less than quoted.'),
    worstBps: NumberOrNull.describe('The lowest difference.'),
    within1BpShare: Share.nullable().describe('Share of compared trades that differ by at most a basis point.'),
    worseShare: Share.nullable().describe('Share of compared trades that got less than quoted.'),
    unknownShare: Share.describe('Share of all trades that were not compared.'),
  },
);

const Persistence = documented('QuotePersistence', 'What became of quotes of one side after one horizon.', {
  side: z.enum(['bids', 'asks']).describe('`bids`: token0 is sold.'),
  horizon: z.enum(HORIZONS).describe('When the quote was compared; the last two of live prices.'),
  sampleCount: z.int().describe('Quotes that were compared: worth 1,000 and 10,000 USD, and a tenth of the depth.'),
  medianBps: z.number().describe('Median of what they lost, basis points; negative: became better; 10000: withdrawn.'),
  p95Bps: z.number().describe('95 of 100 lost at most this.'),
  worse1BpShare: Share.describe('Share that lost more than one basis point.'),
  worse5BpsShare: Share.describe('Share that lost more than five.'),
  withdrawnShare: Share.describe('Share that did not fill any more.'),
  betterShare: Share.describe('Share that became better.'),
  goneShare: Share.nullable().describe(
    'Depth within 10 bps that the next block did not have within the same price, of what was shown; null when not known.',
  ),
});

const Day = documented('PoolDay', 'A day of a pool.', {
  dayTs: z.int().describe('Start of the day (UTC), Unix seconds.'),
  swapCount: z.int().describe('Trades.'),
  senderCount: z.int().describe('Distinct senders.'),
  volume0Raw: Amount.describe('token0 traded, raw units.'),
  volume1Raw: Amount.describe('token1 traded, raw units.'),
  volumeUsd: NumberOrNull.describe('Inputs at their prices then, USD; null until the day is final.'),
  balance0Raw: Amount.describe('token0 in the pool at the end of the day, raw units, fees included.'),
  balance1Raw: Amount.describe('The same of token1.'),
  lpFee0Raw: Amount.nullable().describe(
    'Fees of liquidity providers in token0, raw units, rounded down; null of packed pools.',
  ),
  lpFee1Raw: Amount.nullable().describe('The same in token1.'),
  lpFeesUsd: NumberOrNull.describe('Both at their prices then, USD; null until the day is final.'),
  tvl0Raw: Amount.nullable().describe(
    'token0 of liquidity providers at the end of the day, raw units; null of packed pools.',
  ),
  tvl1Raw: Amount.nullable().describe('The same of token1.'),
  tvlUsd: NumberOrNull.describe('Both at hourly prices then, USD; null when one was not known, and after 400 days.'),
  lpReturn: NumberOrNull.describe(
    'What all liquidity together gained over holding its tokens, at hourly dollar prices; 0.01 is one percent. Null without liquidity or a price.',
  ),
  fillQuality: FillQuality.nullable().describe('Null when no trade was compared.'),
  executability: Executability.describe(
    'How often the pool could be traded with, by samples of the day, which are kept for `quoteHourDays`.',
  ),
  persistence: z.array(Persistence).describe('Whether quotes held; empty without samples.'),
  final: z.boolean().describe('Whether the whole day is final.'),
});
export type PoolDay = z.output<typeof Day>;

export const DaysPage = historyPage(
  'PoolDaysPage',
  'Days of a pool.',
  Day,
  'Days with an event of the pool, newest first.',
);
export type DaysPage = z.output<typeof DaysPage>;

const DAYS_EXAMPLE: DaysPage = {
  data: [
    {
      dayTs: 1_794_873_600,
      swapCount: 120,
      senderCount: 9,
      volume0Raw: '40000000000000000000',
      volume1Raw: '119940000000',
      volumeUsd: 119_940,
      balance0Raw: '250000000000000000000',
      balance1Raw: '750000000000',
      lpFee0Raw: '9000000000000000',
      lpFee1Raw: '27000000',
      lpFeesUsd: 54,
      tvl0Raw: '249900000000000000000',
      tvl1Raw: '749700000000',
      tvlUsd: 1_499_400,
      lpReturn: 0.00003,
      fillQuality: {
        comparedCount: 80,
        medianBps: 0,
        worstBps: -3.2,
        within1BpShare: 0.95,
        worseShare: 0.05,
        unknownShare: 1 / 3,
      },
      executability: EXECUTABILITY_EXAMPLE,
      persistence: [
        {
          side: 'bids',
          horizon: '1_block',
          sampleCount: 4_200,
          medianBps: 0,
          p95Bps: 1.4,
          worse1BpShare: 0.06,
          worse5BpsShare: 0.01,
          withdrawnShare: 0.002,
          betterShare: 0.2,
          goneShare: 0.03,
        },
      ],
      final: true,
    },
  ],
  nextBefore: null,
};

export const listDays = {
  operationId: 'listDays',
  path: '/public/v1/evm/{chain_id}/{pool_address}/days',
  ...HISTORY,
  summary: 'List the days of one pool',
  description:
    'Volume, senders, balances and what trades got beside what was quoted, by days (UTC), newest first. A page ' +
    'of several days ends with fewer than its `limit` at 50,000 trades. A Trading API key is optional and raises the rate limit.',
  request: { params: poolParams, query: RawDaysQuery },
  answer: { description: 'A page of days', schema: DaysPage, example: DAYS_EXAMPLE },
} as const satisfies ApiRoute;

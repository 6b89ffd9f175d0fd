import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { ChainIdPath, errorOrTextResponse, errorResponse, PoolAddressPath } from '../declaration/responses.ts';
import { Integer } from '../request.ts';

/** Seconds of each interval. */
export const INTERVALS = { '1m': 60, '5m': 300, '15m': 900, '1h': 3_600, '4h': 14_400, '1d': 86_400 } as const;

export const DEFAULT_LIMIT = 100;
export const MAX_BARS = 1_000;
export const MAX_DAYS = 400;

const Flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const flag = (description: string) =>
  Flag.optional().openapi({ type: 'boolean', default: false, example: false, description });

const Before = Integer.refine((value) => value >= 0 && value < 2 ** 40, 'not a time')
  .optional()
  .openapi({
    type: 'integer',
    example: 1_795_000_000,
    description:
      'Only what starts before this time, Unix seconds: `nextBefore` of the page before. Default: the newest.',
  });

const limitOf = (most: number) =>
  Integer.optional().openapi({
    type: 'integer',
    minimum: 0,
    default: DEFAULT_LIMIT,
    example: 2,
    description: `Page size; more than ${most} acts as ${most}, 0 as 1.`,
  });

/** The query string's syntax: what fails here is answered in plain text. */
export const RawBarsQuery = z.object({
  interval: z
    .enum(Object.keys(INTERVALS) as [keyof typeof INTERVALS])
    .optional()
    .openapi({
      default: '1h',
      example: '1h',
      description: 'Length of a bar. Bars start at multiples of it since 1970, UTC.',
    }),
  series: z.enum(['trade', 'bid', 'ask', 'mid']).optional().openapi({
    default: 'trade',
    example: 'trade',
    description: 'Prices of trades, or of what the pool quoted, sampled about once a minute.',
  }),
  before: Before,
  limit: limitOf(MAX_BARS),
  currency: z.enum(['token', 'usd']).optional().openapi({
    default: 'token',
    example: 'token',
    description: 'Prices in the other token, or in US dollars by its price when the bar begins.',
  }),
  invert: flag('Prices of token1 in token0: the bid is then the inverse of the ask.'),
  includeEmpty: flag(
    'Intervals without a bar, too, from `before` or the newest bar back to the oldest. Their prices are null.',
  ),
});

export const RawDepthQuery = z.object({
  interval: z.enum(['1m', '1h']).optional().openapi({
    default: '1m',
    example: '1m',
    description: 'Samples of minutes, or the last of each hour, kept longer.',
  }),
  before: Before,
  limit: limitOf(MAX_BARS),
});

export const RawDaysQuery = z.object({ before: Before, limit: limitOf(MAX_DAYS) });

const Amount = z.string().regex(/^\d+$/);
const Price = Amount.nullable();

const startTs = z.int().describe('Start of the interval, Unix seconds.');
const prices = {
  highX64: Price.describe('Highest price.'),
  lowX64: Price.describe('Lowest price.'),
  closeX64: Price.describe('Last price.'),
};
const final = z.boolean().describe('Whether the whole interval is final: it does not change any more.');

const Bar = z
  .strictObject({
    startTs,
    openX64: Price.describe(
      'First executed price, fees included: token1 per whole token0, Q64.64, rounded down. Null without a price: a trade that did not move both tokens has none, nor has a token whose dollar price was not known.',
    ),
    ...prices,
    volume0Raw: Amount.describe('token0 traded, raw units.'),
    volume1Raw: Amount.describe('token1 traded, raw units.'),
    volumeUsd: z.number().nullable().describe('Inputs at their prices then, USD; null when one was not known.'),
    swapCount: z.int().describe('Trades.'),
    final,
  })
  .openapi('TradeBar', { description: 'Executed prices of a pool in an interval.' });
export type TradeBar = z.output<typeof Bar>;

const SampleBar = z
  .strictObject({
    startTs,
    openX64: Price.describe(
      'First sampled price, fees included: token1 per whole token0, Q64.64, rounded down. Null in dollars that were not known.',
    ),
    ...prices,
    sampleCount: z.int().describe('Samples.'),
    final,
  })
  .openapi('QuoteBar', { description: 'What a pool quoted in an interval, by samples.' });
export type QuoteBar = z.output<typeof SampleBar>;

const nextBefore = z.int().nullable().describe('`before` of the next page; null on the last one.');

export const BarsPage = z
  .strictObject({ data: z.array(Bar).describe('Newest first.'), nextBefore })
  .openapi('TradeBarsPage', { description: 'Bars of a pool.' });
export type BarsPage = z.output<typeof BarsPage>;

export const QuoteBarsPage = z
  .strictObject({ data: z.array(SampleBar).describe('Newest first.'), nextBefore })
  .openapi('QuoteBarsPage', { description: 'Bars of what a pool quoted.' });
export type QuoteBarsPage = z.output<typeof QuoteBarsPage>;

const Share = z.number().min(0).max(1);
const FillQuality = z
  .strictObject({
    comparedCount: z.int().describe('Trades that were compared with a quote.'),
    medianBps: z.number().nullable().describe('Median of the difference, basis points; negative: less than quoted.'),
    worstBps: z.number().nullable().describe('The lowest difference.'),
    within1BpShare: Share.nullable().describe('Share of compared trades that differ by at most a basis point.'),
    worseShare: Share.nullable().describe('Share of compared trades that got less than quoted.'),
    unknownShare: Share.describe('Share of all trades that were not compared.'),
  })
  .openapi('FillQuality', {
    description: 'What final trades got, beside what the pool quoted for their input at the end of the block before.',
  });

const Day = z
  .strictObject({
    dayTs: z.int().describe('Start of the day (UTC), Unix seconds.'),
    swapCount: z.int().describe('Trades.'),
    senderCount: z.int().describe('Distinct senders.'),
    volume0Raw: Amount.describe('token0 traded, raw units.'),
    volume1Raw: Amount.describe('token1 traded, raw units.'),
    volumeUsd: z.number().nullable().describe('Inputs at their prices then, USD; null until the day is final.'),
    balance0Raw: Amount.describe('token0 in the pool at the end of the day, raw units, fees included.'),
    balance1Raw: Amount.describe('The same of token1.'),
    lpFee0Raw: Amount.nullable().describe(
      'Fees of liquidity providers in token0, raw units, rounded down; null of packed pools.',
    ),
    lpFee1Raw: Amount.nullable().describe('The same in token1.'),
    lpFeesUsd: z.number().nullable().describe('Both at their prices then, USD; null until the day is final.'),
    tvl0Raw: Amount.nullable().describe(
      'token0 of liquidity providers at the end of the day, raw units; null of packed pools.',
    ),
    tvl1Raw: Amount.nullable().describe('The same of token1.'),
    tvlUsd: z.number().nullable().describe('Both at their prices then, USD; null when one was not known.'),
    lpReturn: z
      .number()
      .nullable()
      .describe(
        'What all liquidity together gained over holding its tokens, at dollar prices; 0.01 is one percent. Null without liquidity or a price.',
      ),
    fillQuality: FillQuality.nullable().describe('Null when no trade was compared.'),
    final: z.boolean().describe('Whether the whole day is final.'),
  })
  .openapi('PoolDay', { description: 'A day of a pool.' });
export type PoolDay = z.output<typeof Day>;

export const DaysPage = z
  .strictObject({ data: z.array(Day).describe('Days with an event of the pool, newest first.'), nextBefore })
  .openapi('PoolDaysPage', { description: 'Days of a pool.' });
export type DaysPage = z.output<typeof DaysPage>;

const Band = z.strictObject({
  bps: z.int().describe('Distance from mid, basis points.'),
  bidRaw: Amount.nullable().describe(
    'token1 that the pool gives for the largest input after which the bid is within the distance, raw units; null when not known.',
  ),
  askRaw: Amount.nullable().describe('The same of token0 and the ask.'),
});

const Sample = z
  .strictObject({
    ts: z.int().describe('Time of the block, of an hour its start, Unix seconds.'),
    blockNumber: z.int().nullable().describe('Block that was read; null of an hour.'),
    status: z
      .enum(['healthy', 'feed_down', 'pool_refused', 'pool_paused', 'unknown'])
      .describe('What the pool did at the block.'),
    bidX64: Price.describe('Price to sell token0 at, fees included, Q64.64; null unless read.'),
    askX64: Price.describe('Price to buy token0 at.'),
    depth: z.array(Band).nullable().describe('By distance from the mean of both prices; null unless read.'),
  })
  .openapi('DepthSample', { description: 'What a pool quoted at a block.' });
export type DepthSample = z.output<typeof Sample>;

export const DepthPage = z
  .strictObject({ data: z.array(Sample).describe('Newest first.'), nextBefore })
  .openapi('DepthSamplesPage', { description: 'Samples of what a pool quoted.' });
export type DepthPage = z.output<typeof DepthPage>;

const DEPTH_EXAMPLE: DepthPage = {
  data: [
    {
      ts: 1_794_996_012,
      blockNumber: 21_000_000,
      status: 'healthy',
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

const BARS_EXAMPLE: BarsPage = {
  data: [
    {
      startTs: 1_794_996_000,
      openX64: '55312562105018090520576',
      highX64: '55340232221128654848000',
      lowX64: '55303340000000000000000',
      closeX64: '55320000000000000000000',
      volume0Raw: '1500000000000000000',
      volume1Raw: '4498000000',
      volumeUsd: 4_498,
      swapCount: 3,
      final: false,
    },
  ],
  nextBefore: null,
};

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
      final: true,
    },
  ],
  nextBefore: null,
};

const HISTORY = {
  method: 'get',
  limit: 'history',
  key: 'optional',
  compress: true,
  tag: 'Listing',
  failures: {
    400: errorOrTextResponse('A parameter is malformed (plain text), or has a value that is not allowed (JSON)'),
    404: errorResponse('Unknown chain, or a pool that is not served on it'),
    503: errorResponse('Service temporarily unavailable; retry'),
  },
} as const;
const params = z.object({ chain_id: ChainIdPath, pool_address: PoolAddressPath });

export const listBars = {
  operationId: 'listBars',
  path: '/public/v1/evm/{chain_id}/{pool_address}/ohlcv',
  ...HISTORY,
  summary: 'List open, high, low, close and volume of one pool',
  description:
    'Of executed trades as far as the chain is indexed, or of sampled quotes, newest first. Without `includeEmpty` an ' +
    'interval without any has no bar. A bar opens with its own first trade or sample, not with the last one before it. A ' +
    'Trading API key is optional and raises the rate limit.',
  request: { params, query: RawBarsQuery },
  answer: { description: 'A page of bars', schema: z.union([BarsPage, QuoteBarsPage]), example: BARS_EXAMPLE },
} as const satisfies ApiRoute;

export const listDepth = {
  operationId: 'listDepth',
  path: '/public/v1/evm/{chain_id}/{pool_address}/depth_history',
  ...HISTORY,
  summary: 'List what one pool quoted, with depth',
  description:
    'Samples of funded pools, about one a minute and at changes of status, newest first. Depth is known of the most valuable ' +
    'pools, guards applied. A Trading API key is optional and raises the rate limit.',
  request: { params, query: RawDepthQuery },
  answer: { description: 'A page of samples', schema: DepthPage, example: DEPTH_EXAMPLE },
} as const satisfies ApiRoute;

export const listDays = {
  operationId: 'listDays',
  path: '/public/v1/evm/{chain_id}/{pool_address}/days',
  ...HISTORY,
  summary: 'List the days of one pool',
  description:
    'Volume, senders, balances and what trades got beside what was quoted, by days (UTC), newest first. A Trading API key is ' +
    'optional and raises the rate limit.',
  request: { params, query: RawDaysQuery },
  answer: { description: 'A page of days', schema: DaysPage, example: DAYS_EXAMPLE },
} as const satisfies ApiRoute;

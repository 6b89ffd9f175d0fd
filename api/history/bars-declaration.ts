import { z } from '@hono/zod-openapi';
import { INTERVALS, MAX_BARS } from '../bars/intervals.ts';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { poolParams } from '../declaration/pool-page.ts';
import { Amount, Before, HISTORY, historyPage, limitOf, Price } from './declare-page.ts';

const Flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const flag = (description: string) =>
  Flag.optional().openapi({ type: 'boolean', default: false, example: false, description });

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
    description:
      'Prices in the other token, or in US dollars by its price when the bar begins: by that of its hour after seven days, not known after 400.',
  }),
  invert: flag('Prices of token1 in token0: the bid is then the inverse of the ask.'),
  includeEmpty: flag(
    'Intervals without a bar, too, from `before` or the newest bar back to the oldest. Their prices are null.',
  ),
});

const startTs = z.int().describe('Start of the interval, Unix seconds.');
const prices = {
  highX64: Price.describe('Highest price.'),
  lowX64: Price.describe('Lowest price.'),
  closeX64: Price.describe('Last price.'),
};
const final = z
  .boolean()
  .describe(
    'Whether the whole interval is final: it does not change any more, but for prices in US dollars (`currency`).',
  );

const Bar = documented('TradeBar', 'Executed prices of a pool in an interval.', {
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
});
export type TradeBar = z.output<typeof Bar>;

const SampleBar = documented('QuoteBar', 'What a pool quoted in an interval, by samples.', {
  startTs,
  openX64: Price.describe(
    'First sampled price, fees included: token1 per whole token0, Q64.64, rounded down. Null in dollars that were not known.',
  ),
  ...prices,
  sampleCount: z.int().describe('Samples.'),
  final,
});
export type QuoteBar = z.output<typeof SampleBar>;

export const BarsPage = historyPage('TradeBarsPage', 'Bars of a pool.', Bar);
export type BarsPage = z.output<typeof BarsPage>;

export const QuoteBarsPage = historyPage('QuoteBarsPage', 'Bars of what a pool quoted.', SampleBar);
export type QuoteBarsPage = z.output<typeof QuoteBarsPage>;

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

export const listBars = {
  operationId: 'listBars',
  path: '/public/v1/evm/{chain_id}/{pool_address}/ohlcv',
  ...HISTORY,
  summary: 'List open, high, low, close and volume of one pool',
  description:
    'Of executed trades as far as the chain is indexed, or of sampled quotes, newest first. Without `includeEmpty` an ' +
    'interval without any has no bar. A bar opens with its own first trade or sample, not with the last one before it. A ' +
    'Trading API key is optional and raises the rate limit.',
  request: { params: poolParams, query: RawBarsQuery },
  answer: { description: 'A page of bars', schema: z.union([BarsPage, QuoteBarsPage]), example: BARS_EXAMPLE },
} as const satisfies ApiRoute;

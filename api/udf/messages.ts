import { z } from '@hono/zod-openapi';
import { MAX_SEARCH_LENGTH } from '../../db/listing/search-terms.ts';
import { INTERVALS, MAX_BARS } from '../bars/intervals.ts';
import { documented } from '../declaration/documented.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { Integer } from '../request.ts';

/** Seconds of each resolution. */
export const RESOLUTIONS = {
  '1': INTERVALS['1m'],
  '5': INTERVALS['5m'],
  '15': INTERVALS['15m'],
  '60': INTERVALS['1h'],
  '240': INTERVALS['4h'],
  '1D': INTERVALS['1d'],
} as const;
const Resolution = z.enum(Object.keys(RESOLUTIONS) as [keyof typeof RESOLUTIONS]);
const resolutions = Resolution.options.toSorted((one, other) => RESOLUTIONS[one] - RESOLUTIONS[other]);

export const MAX_FOUND = 30;

export const TICKER_EXAMPLE = `${EXAMPLE.chainId}:${EXAMPLE.pool}`;
export const Ticker = z.string().regex(/^\d{1,16}:0x[\da-f]{40}$/i, 'not a ticker such as 1:0x…');
const ticker = (description: string) => Ticker.openapi({ example: TICKER_EXAMPLE, description });

const Time = Integer.refine((value) => value < 2 ** 40, 'not a time');
const time = (schema: typeof Time, example: number, description: string) =>
  schema.openapi({ type: 'integer', example, description });

export const SymbolQuery = z.object({ symbol: ticker('`<chain id>:<pool address>`.') });
export const SearchQuery = z.object({
  query: z
    .string()
    .max(MAX_SEARCH_LENGTH)
    .regex(/^\P{Cc}*$/u, 'not printable')
    .default('')
    .openapi({ example: 'weth', description: 'Beginning of a symbol, pair or address.' }),
  limit: Integer.refine((value) => value >= 0, 'negative')
    .default(MAX_FOUND)
    .openapi({ type: 'integer', example: 10, description: `More than ${MAX_FOUND} acts as ${MAX_FOUND}.` }),
});
export const HistoryQuery = z.object({
  symbol: ticker('`ticker` of a symbol.'),
  resolution: z
    .enum([...Resolution.options, 'D'])
    .openapi({ example: '60', description: 'Length of a bar, minutes, or `1D`; `D` acts as `1D`.' })
    .transform((name) => (name === 'D' ? '1D' : name)),
  from: time(
    Time,
    1_794_990_000,
    'Oldest start of a bar, Unix seconds; ignored with `countback`. A negative one acts as 0.',
  ),
  to: time(
    Time.refine((value) => value >= 0, 'negative'),
    1_795_000_000,
    'Exclusive, Unix seconds.',
  ),
  countback: Integer.refine((value) => value > 0, 'not positive')
    .optional()
    .openapi({
      type: 'integer',
      example: 2,
      description: `Bars before \`to\`; more than ${MAX_BARS} acts as ${MAX_BARS}.`,
    }),
});

const RESOLUTIONS_MEANING = 'Lengths of a bar, minutes, or `1D`.';
const TICKER_MEANING = '`<chainId>:<address>` of the pool.';

export const Failure = z.strictObject({
  s: z.literal('error').describe('The request has no answer.'),
  errmsg: z.string().describe('Why.'),
});

export const Config = documented('UdfConfig', 'What the data feed can do.', {
  supported_resolutions: z.array(Resolution).describe(RESOLUTIONS_MEANING),
  supports_search: z.boolean().describe('Whether symbols are searched for.'),
  supports_group_request: z.boolean().describe('Whether all symbols come in one answer.'),
  supports_marks: z.boolean().describe('Whether bars have marks.'),
  supports_timescale_marks: z.boolean().describe('Whether times have marks.'),
  supports_time: z.boolean().describe('Whether the time of the service is given.'),
});
export const CONFIG: z.output<typeof Config> = {
  supported_resolutions: resolutions,
  supports_search: true,
  supports_group_request: false,
  supports_marks: false,
  supports_timescale_marks: false,
  supports_time: true,
};

export const Found = documented('UdfFoundSymbol', 'A pool that was found.', {
  symbol: z.string().describe('Pair.'),
  full_name: z.string().describe('The ticker again.'),
  description: z.string().describe('Pair, and address of the pool.'),
  exchange: z.string().describe('Chain.'),
  ticker: z.string().describe(TICKER_MEANING),
  type: z.literal('crypto').describe('Kind of symbol.'),
});
export type Found = z.output<typeof Found>;
export const FOUND_EXAMPLE: Found = {
  symbol: 'WETH/USDC',
  full_name: TICKER_EXAMPLE,
  description: `WETH/USDC ${EXAMPLE.pool}`,
  exchange: 'base',
  ticker: TICKER_EXAMPLE,
  type: 'crypto',
};

export const SymbolInfo = documented('UdfSymbol', 'A pool as a symbol.', {
  name: z.string().describe('Pair.'),
  ticker: z.string().describe(TICKER_MEANING),
  description: z.string().describe('Pair, and address of the pool.'),
  type: z.literal('crypto').describe('Kind of symbol.'),
  session: z.literal('24x7').describe('When it trades.'),
  timezone: z.literal('Etc/UTC').describe('Of days.'),
  exchange: z.string().describe('Chain.'),
  listed_exchange: z.string().describe('The same.'),
  minmov: z.literal(1).describe('Units of `pricescale` that a price moves by.'),
  pricescale: z
    .number()
    .describe('Ten to the power of the digits that are shown: six significant ones of the newest day.'),
  has_intraday: z.literal(true).describe('Whether there are bars shorter than a day.'),
  volume_precision: z.int().describe('Digits of volumes that are shown.'),
  supported_resolutions: z.array(Resolution).describe(RESOLUTIONS_MEANING),
});
export const SYMBOL = {
  type: 'crypto',
  session: '24x7',
  timezone: 'Etc/UTC',
  minmov: 1,
  has_intraday: true,
  volume_precision: 8,
  supported_resolutions: resolutions,
} as const satisfies Partial<z.output<typeof SymbolInfo>>;
export type SymbolInfo = z.output<typeof SymbolInfo> | z.output<typeof Failure>;

const numbers = (description: string) => z.array(z.number()).describe(`${description}, 15 digits, rounded down.`);
export const History = z
  .discriminatedUnion('s', [
    z.strictObject({
      s: z.literal('ok').describe('There are bars.'),
      t: z.array(z.int()).describe('Starts of bars, Unix seconds, oldest first.'),
      o: numbers('First price: whole token1 per whole token0'),
      h: numbers('Highest price'),
      l: numbers('Lowest price'),
      c: numbers('Last price'),
      v: numbers('Volume in whole token0, or in raw units when its decimals are unknown'),
    }),
    z.strictObject({
      s: z.literal('no_data').describe('There is no bar in this time.'),
      nextTime: z.int().optional().describe('Start of the newest earlier bar; absent when there is none.'),
    }),
    Failure,
  ])
  .openapi('UdfHistory', { description: 'Bars as columns.' });
export type History = z.output<typeof History>;

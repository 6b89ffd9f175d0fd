import { z } from '@hono/zod-openapi';
import { MAX_BARS } from '../bars/intervals.ts';
import type { ApiRoute } from '../declaration/api-route.ts';
import { retriedResponse } from '../declaration/responses.ts';
import {
  CONFIG,
  Config,
  Failure,
  FOUND_EXAMPLE,
  Found,
  History,
  HistoryQuery,
  SearchQuery,
  SYMBOL,
  SymbolInfo,
  SymbolQuery,
  TICKER_EXAMPLE,
} from './messages.ts';

const UDF = {
  method: 'get',
  limit: 'history',
  key: 'optional',
  tag: 'Charts',
  failures: { 503: retriedResponse('Service temporarily unavailable') },
} as const;

export const getUdfConfig = {
  operationId: 'getUdfConfig',
  path: '/public/v1/udf/config',
  ...UDF,
  summary: "Describe the data feed of TradingView's charting library",
  description: "The address of the data feed is this one without `/config`. It follows the library's UDF protocol.",
  answer: { description: 'What the data feed can do', schema: Config, example: CONFIG },
} as const satisfies ApiRoute;

export const getUdfTime = {
  operationId: 'getUdfTime',
  path: '/public/v1/udf/time',
  ...UDF,
  summary: 'Get the time of the data feed',
  description: 'Unix seconds.',
  answer: { description: 'Unix seconds', schema: z.int(), example: 1_795_000_000 },
} as const satisfies ApiRoute;

export const getUdfSymbol = {
  operationId: 'getUdfSymbol',
  path: '/public/v1/udf/symbols',
  ...UDF,
  summary: 'Get a pool as a symbol of the data feed',
  description: 'A pool that is not served has `s: "error"`, with status 200.',
  request: { query: SymbolQuery },
  answer: {
    description: 'The symbol, or an error',
    schema: z.union([SymbolInfo, Failure]),
    example: {
      ...SYMBOL,
      name: FOUND_EXAMPLE.symbol,
      ticker: TICKER_EXAMPLE,
      description: FOUND_EXAMPLE.description,
      exchange: 'base',
      listed_exchange: 'base',
      pricescale: 100,
    },
  },
} as const satisfies ApiRoute;

export const searchUdfSymbols = {
  operationId: 'searchUdfSymbols',
  path: '/public/v1/udf/search',
  ...UDF,
  summary: 'Search the symbols of the data feed',
  description: 'Listed pools of 10 USD or more, the largest first. A text of one character acts as none.',
  request: { query: SearchQuery },
  answer: {
    description: 'Pools that were found',
    schema: z.union([z.array(Found), Failure]),
    example: [FOUND_EXAMPLE],
  },
} as const satisfies ApiRoute;

export const listUdfBars = {
  operationId: 'listUdfBars',
  path: '/public/v1/udf/history',
  ...UDF,
  compress: true,
  summary: 'List the bars of a symbol',
  description:
    `The bars of \`listBars\` as rounded numbers, at most ${MAX_BARS}, the newest ones. Bars without a price are left out. ` +
    'What is wrong with a request is `s: "error"`, with status 200.',
  request: { query: HistoryQuery },
  answer: {
    description: 'Bars, `no_data` or an error',
    schema: History,
    example: { s: 'ok', t: [1_794_996_000], o: [2998.5], h: [3000], l: [2998], c: [2998.9], v: [1.5] },
  },
} as const satisfies ApiRoute;

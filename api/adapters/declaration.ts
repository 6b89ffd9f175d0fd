import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { ChainIdPath, errorOrTextResponse, errorResponse, retriedResponse } from '../declaration/responses.ts';
import {
  AssetAnswer,
  BLOCK,
  BlockAnswer,
  EVENT_EXAMPLE,
  EventsAnswer,
  ExchangeAnswer,
  FactoryPairAnswer,
  PAIR_EXAMPLE,
  PairAnswer,
} from './messages.ts';

/** Most blocks of a range of events. */
export const MAX_BLOCKS = 1_000;

const Natural = z
  .string()
  .regex(/^\d{1,15}$/, 'not a whole number')
  .transform(Number);
const BlockNumber = (example: number) =>
  Natural.openapi({ type: 'integer', example, description: 'Number of a block.' });

export const EventsQuery = z.object({
  fromBlock: BlockNumber(40_043_000).openapi({ description: 'First block.' }),
  toBlock: BlockNumber(40_043_199).openapi({ description: `Last block: at most ${MAX_BLOCKS} with the first.` }),
});

const idOf = (what: string, example: string) => z.object({ id: z.string().openapi({ example, description: what }) });
export const AssetQuery = idOf('The token.', EXAMPLE.weth);
export const PairQuery = idOf('The pool.', EXAMPLE.pool);
export const ExchangeQuery = idOf('The factory.', EXAMPLE.factory);

export const BlockQuery = z.object({
  number: Natural.optional().openapi({
    type: 'integer',
    example: 40_050_000,
    description: 'Number of a block with an event.',
  }),
  timestamp: Natural.optional().openapi({
    type: 'integer',
    example: 1_795_000_000,
    description: 'Unix seconds: the newest block with an event until then.',
  }),
});

export const params = z.object({ chain_id: ChainIdPath });
export const ADAPTER = {
  method: 'get',
  limit: 'history',
  key: 'optional',
  compress: true,
  tag: 'Listing sites',
  failures: {
    400: errorOrTextResponse('A parameter is malformed (plain text), or has a value that is not allowed (JSON)'),
    404: errorResponse('Unknown chain, or what is asked for is not served'),
    503: retriedResponse('Service temporarily unavailable, or the index needs a backfill'),
  },
} as const satisfies Partial<ApiRoute>;

type Site = 'dexscreener' | 'dextools';
const SITES = { dexscreener: 'DEX Screener, GeckoTerminal and CoinGecko', dextools: 'DEXTools' } as const;

const latestBlockOf = <const Id extends string, const S extends Site>(operationId: Id, site: S) =>
  ({
    operationId,
    path: `/adapters/${site}/{chain_id}/latest-block`,
    ...ADAPTER,
    summary: `Get the newest block for ${SITES[site]}`,
    description:
      'All events until this block can be read. It is final, unless the operator lets sites read newer ones.',
    request: { params },
    answer: { description: 'The block', schema: BlockAnswer, example: { block: BLOCK } },
  }) as const satisfies ApiRoute;

const assetOf = <const Id extends string, const S extends Site>(operationId: Id, site: S) =>
  ({
    operationId,
    path: `/adapters/${site}/{chain_id}/asset`,
    ...ADAPTER,
    summary: `Get a token for ${SITES[site]}`,
    description: 'A token of a pool. One without a symbol or decimals is not served.',
    request: { params, query: AssetQuery },
    answer: {
      description: 'The token',
      schema: AssetAnswer,
      example: { asset: { id: EXAMPLE.weth, name: 'Wrapped Ether', symbol: 'WETH' } },
    },
  }) as const satisfies ApiRoute;

const eventsOf = <const Id extends string, const S extends Site>(operationId: Id, site: S) =>
  ({
    operationId,
    path: `/adapters/${site}/{chain_id}/events`,
    ...ADAPTER,
    summary: `List the events of blocks for ${SITES[site]}`,
    description:
      'Swaps and changes of liquidity, both bounds included. 404 above the newest block that is served. Left out is what ' +
      "would stop a site's indexing, such as a swap with an amount of zero.",
    request: { params, query: EventsQuery },
    answer: { description: 'The events', schema: EventsAnswer, example: { events: [EVENT_EXAMPLE] } },
  }) as const satisfies ApiRoute;

const PAIR = {
  ...ADAPTER,
  description: 'A pool whose events are served. The order of its tokens never changes.',
  request: { params, query: PairQuery },
} as const;

export const getDexscreenerLatestBlock = latestBlockOf('getDexscreenerLatestBlock', 'dexscreener');
export const getDexscreenerAsset = assetOf('getDexscreenerAsset', 'dexscreener');
export const getDexscreenerPair = {
  operationId: 'getDexscreenerPair',
  path: '/adapters/dexscreener/{chain_id}/pair',
  ...PAIR,
  summary: `Get a pool for ${SITES.dexscreener}`,
  answer: { description: 'The pool', schema: PairAnswer, example: { pair: PAIR_EXAMPLE } },
} as const satisfies ApiRoute;
export const listDexscreenerEvents = eventsOf('listDexscreenerEvents', 'dexscreener');

export const getDextoolsLatestBlock = latestBlockOf('getDextoolsLatestBlock', 'dextools');
export const getDextoolsBlock = {
  operationId: 'getDextoolsBlock',
  path: '/adapters/dextools/{chain_id}/block',
  ...ADAPTER,
  summary: 'Get a block for DEXTools',
  description:
    'By `number` or `timestamp`. The index knows blocks with an event, and the newest: 404 for any other number.',
  request: { params, query: BlockQuery },
  answer: { description: 'The block', schema: BlockAnswer, example: { block: BLOCK } },
} as const satisfies ApiRoute;
export const getDextoolsAsset = assetOf('getDextoolsAsset', 'dextools');
export const getDextoolsExchange = {
  operationId: 'getDextoolsExchange',
  path: '/adapters/dextools/{chain_id}/exchange',
  ...ADAPTER,
  summary: 'Get a factory for DEXTools',
  description: 'A factory of an enabled deployment.',
  request: { params, query: ExchangeQuery },
  answer: {
    description: 'The factory',
    schema: ExchangeAnswer,
    example: { exchange: { factoryAddress: EXAMPLE.factory, name: 'base v1' } },
  },
} as const satisfies ApiRoute;
export const getDextoolsPair = {
  operationId: 'getDextoolsPair',
  path: '/adapters/dextools/{chain_id}/pair',
  ...PAIR,
  summary: `Get a pool for ${SITES.dextools}`,
  answer: {
    description: 'The pool',
    schema: FactoryPairAnswer,
    example: { pair: { ...PAIR_EXAMPLE, factoryAddress: EXAMPLE.factory } },
  },
} as const satisfies ApiRoute;
export const listDextoolsEvents = eventsOf('listDextoolsEvents', 'dextools');

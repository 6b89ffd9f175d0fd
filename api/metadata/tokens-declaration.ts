import { z } from '@hono/zod-openapi';
import { Address } from '../../db/listing/pool-record.ts';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { ChainIdPath, errorOrTextResponse, errorResponse, retriedResponse } from '../declaration/responses.ts';
import { RawListingQuery } from '../listing/query-string.ts';

/** The query string's syntax. Errors in it are reported in plain text. Unknown parameters are dropped. */
export const RawTokensQuery = RawListingQuery.pick({ count: true }).extend({
  offset: RawListingQuery.shape.offset.openapi({ description: 'Index of the first token.' }),
});

const ListedToken = documented('ListedToken', 'A token of listed pools.', {
  address: Address.describe('The token.'),
  symbol: z.string().nullable().describe('As in pool records; null when unknown.'),
  name: z.string().nullable().describe('As in pool records; null when unknown.'),
  decimals: z.int().nonnegative().nullable().describe('Decimals of amounts; null when unknown.'),
  logoUrl: z.url().nullable().describe('Picture of the token; null when not configured.'),
  pools: z.int().positive().describe('Number of listed pools that trade it, at any TVL.'),
  routers: z.array(Address).describe('Routers of these pools that are configured, as `routerAddress` of pool records.'),
});

export const TokensPage = documented('TokensPage', 'A page of tokens.', {
  data: z.array(ListedToken).describe('Those of most pools first, then by address.'),
  total: z.int().nonnegative().describe('Tokens across all pages.'),
  nextOffset: z.int().positive().nullable().describe('`offset` of the next page; null on the last one.'),
});
export type TokensPage = z.output<typeof TokensPage>;

const PAGE_EXAMPLE: TokensPage = {
  data: [
    {
      address: EXAMPLE.weth,
      symbol: 'WETH',
      name: 'Wrapped Ether',
      decimals: 18,
      logoUrl: null,
      pools: 3,
      routers: [],
    },
  ],
  total: 12,
  nextOffset: 1,
};

export const listTokens = {
  operationId: 'listTokens',
  method: 'get',
  path: '/public/v1/evm/{chain_id}/tokens',
  limit: 'listing',
  key: 'none',
  tag: 'Listing',
  summary: 'List the tokens of one chain',
  description:
    'Every token of listed pools, whatever their TVL, without delisted pools. Pages are those of the listing of pools: ' +
    'for the next one pass `nextOffset` as `offset`.',
  request: { params: z.object({ chain_id: ChainIdPath }), query: RawTokensQuery },
  answer: { description: 'A page of tokens', schema: TokensPage, example: PAGE_EXAMPLE },
  failures: {
    400: errorOrTextResponse('A parameter is malformed (plain text) or negative (JSON)'),
    404: errorResponse('Unknown chain'),
    503: retriedResponse('Service temporarily unavailable'),
  },
} as const satisfies ApiRoute;

import { z } from '@hono/zod-openapi';
import { MetadataPage } from '../../db/listing/pool-record.ts';
import type { ApiRoute } from '../declaration/api-route.ts';
import { ChainIdPath, errorOrTextResponse, errorResponse, retriedResponse } from '../declaration/responses.ts';
import { RawCrossChainQuery, RawListingQuery } from '../listing/query-string.ts';
import { PAGE_EXAMPLE } from './example.ts';

/** What both listings share. */
const listing = {
  method: 'get',
  limit: 'listing',
  key: 'none',
  tag: 'Listing',
  answer: { description: 'A page of pools', schema: MetadataPage, example: PAGE_EXAMPLE },
  failures: {
    400: errorOrTextResponse('A parameter is malformed (plain text) or has a value that is not allowed (JSON)'),
    404: errorResponse('Unknown chain or contract version'),
    503: retriedResponse('Service temporarily unavailable'),
  },
} as const satisfies Partial<ApiRoute>;

export const listPools = {
  ...listing,
  operationId: 'listPools',
  path: '/public/v1/evm/{chain_id}/metadata',
  summary: 'List the pools of one chain',
  description:
    'Funded pools with tokens, prices, fees, state, tier and, on request, figures of the last 24 hours. Without ' +
    '`minTvlFiat` pools of less than 10 USD, or of unknown TVL, are left out. With `addresses` only the named pools ' +
    'are looked up, without that floor. For the next page pass `nextOffset` as `offset`.',
  request: { params: z.object({ chain_id: ChainIdPath }), query: RawListingQuery },
} as const satisfies ApiRoute;

export const listPoolsAcrossChains = {
  ...listing,
  operationId: 'listPoolsAcrossChains',
  path: '/public/v1/evm/metadata',
  summary: 'List pools across chains',
  description:
    'As the listing of one chain, over all chains or those of `chainIds`, and without `sortBy=created`. `chain` reports ' +
    'which chain a row belongs to; an address that is a pool on several chains has a row for each.',
  request: { query: RawCrossChainQuery },
} as const satisfies ApiRoute;

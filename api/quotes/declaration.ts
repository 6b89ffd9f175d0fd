import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { poolParams } from '../declaration/pool-page.ts';
import { basisQuery, includeQuery } from '../declaration/quote-basis.ts';
import {
  BlockHeaders,
  ChainIdPath,
  errorOrTextResponse,
  errorResponse,
  retriedResponse,
} from '../declaration/responses.ts';
import { BATCH_REQUEST_EXAMPLE, BATCH_RESPONSE_EXAMPLE, QUOTE_EXAMPLE } from './examples.ts';
import { BatchRequest, BatchResponse, Quote } from './quote-schema.ts';

const Query = z.object({
  depth: z.boolean().default(true).openapi({
    example: true,
    description: '`true` or `false`. False leaves `depth` out.',
  }),
  ...basisQuery,
  ...includeQuery,
});

export const getBidAsk = {
  operationId: 'getBidAsk',
  method: 'get',
  path: '/public/v1/evm/{chain_id}/{pool_address}/bid_ask',
  limit: 'quote',
  key: 'optional',
  // Compressed once per block by the handler, not once per request.
  compress: false,
  tag: 'Quotes',
  summary: 'Current bid, ask and depth of one pool',
  description:
    'Prices include spread and fees. A pool that cannot be quoted also returns 200: `bidAdj` is 0, `askAdj` ' +
    '2^128 - 1, the lists of `depth` are empty, and `priceProviderStatus` says why. One side alone can be closed while ' +
    'the status is `healthy`; it has its sentinel then. Every amount that gives at least one raw unit of output, up to ' +
    'the last level of `depth`, fills at the block of the quote; with unknown extensions that is best effort. A Trading ' +
    'API key is optional and raises the rate limit.',
  request: { params: poolParams, query: Query },
  answer: {
    description: 'The quote; any status but `healthy` means: do not trade',
    schema: Quote,
    example: QUOTE_EXAMPLE,
    headers: BlockHeaders,
  },
  failures: {
    400: errorOrTextResponse('Invalid chain id or address; a bad `depth` returns plain text'),
    404: errorResponse('Unknown chain, or a pool that is not served on it'),
    500: retriedResponse('The pool could not be read onchain'),
    503: retriedResponse('A concurrent read timed out, or the price source was too slow'),
  },
} as const satisfies ApiRoute;

export const getBidAskBatch = {
  operationId: 'getBidAskBatch',
  method: 'post',
  path: '/public/v1/evm/{chain_id}/bid_ask/batch',
  limit: 'batch',
  key: 'optional',
  // Long answers are sent compressed already; this takes care of encodings other than gzip.
  compress: true,
  tag: 'Quotes',
  summary: 'Current bid, ask and depth of up to 100 pools',
  description:
    'Counts as one request. A problem of one pool is the `error` of its entry and does not fail the others. A Trading ' +
    'API key is optional and raises the rate limit.',
  request: {
    params: z.object({ chain_id: ChainIdPath }),
    body: { schema: BatchRequest, example: BATCH_REQUEST_EXAMPLE },
  },
  answer: {
    description: 'One entry per distinct pool, in request order',
    schema: BatchResponse,
    example: BATCH_RESPONSE_EXAMPLE,
    headers: BlockHeaders.partial(),
  },
  failures: {
    400: errorResponse('Invalid chain id, body or address'),
    404: errorResponse('Unknown chain'),
    503: retriedResponse('The batch took longer than 20 seconds'),
  },
} as const satisfies ApiRoute;

import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { basisQuery } from '../declaration/quote-basis.ts';
import { ChainIdPath, errorOrTextResponse, errorResponse, retriedResponse } from '../declaration/responses.ts';
import { QUOTE_EXAMPLE } from '../quotes/examples.ts';
import { poolsQuery } from '../sockets/pool-lists.ts';
import { STREAM_MESSAGES } from './message-schema.ts';

const Query = z.object({
  pools: poolsQuery,
  depth: z.boolean().default(true).openapi({
    example: true,
    description: '`true` or `false`. False leaves `depth` out of the quotes.',
  }),
  ...basisQuery,
});

const UPDATE_EXAMPLE = {
  chainId: EXAMPLE.chainId,
  seq: 42,
  prevSeq: 41,
  blockNumber: 40043187,
  blockHash: `0x${'b1'.repeat(32)}`,
  blockTimestamp: 1794999974,
  serverTs: 1794999975,
  quotes: [QUOTE_EXAMPLE],
  last: true,
};

export const openStream = {
  operationId: 'openStream',
  method: 'get',
  path: '/public/v1/evm/{chain_id}/stream',
  limit: 'quote',
  key: 'optional',
  streams: true,
  tag: 'Quotes',
  summary: 'Quotes of pools as they change, block by block',
  description:
    'Server-sent events: a `snapshot` of the pools, then what changes with each block, named by the event. ' +
    'A `Last-Event-ID` header resumes after the message of that `id`; for other pools `gap` and a `snapshot` come. `/asyncapi.json` ' +
    'describes all messages. A Trading API key is optional; pools whose depth is simulated are read ahead for keys only.',
  request: { params: z.object({ chain_id: ChainIdPath }), query: Query },
  answer: {
    description: 'An endless stream of events, each with JSON data',
    schema: z.union(Object.values(STREAM_MESSAGES)),
    example: UPDATE_EXAMPLE,
  },
  failures: {
    400: errorOrTextResponse('Invalid chain id, address or number of pools; a bad `depth` returns plain text'),
    401: errorResponse('Invalid API key, or neither `pools` nor a key'),
    404: errorResponse('Unknown chain'),
    503: retriedResponse('The chain cannot be read, or no further connection is accepted'),
  },
} as const satisfies ApiRoute;

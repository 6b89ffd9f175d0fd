import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { ChainIdPath, COMMON_FAILURES, jsonContent, TakersHeaders } from '../declaration/responses.ts';
import { MAX_BODY_BYTES } from '../http/refusals.ts';
import { STATUS_EXAMPLE, StatusResult } from './status-schema.ts';

/** The version, which each message names. */
export const JsonRpc = z.literal('2.0').describe('The version of JSON-RPC.');
const Id = z.union([z.string(), z.int(), z.null()]).describe('Chosen by the client; the response repeats it.');

export const RpcCall = documented('RpcCall', 'A call of JSON-RPC 2.0.', {
  jsonrpc: JsonRpc,
  id: Id.optional(),
  method: z
    .string()
    .describe(
      'In the forms of BAP-710 `pamm_getPammStateOverrides`, `pamm_getPammPriceLevels` (`[{"pamms": [pool, …], "levels": most of a pair}]`; without ' +
        'pools all listed ones with a key, and those of most value without) and `pamm_status`; in those of builders `titan_getPammStateOverrides`, ' +
        '`titan_getPammPriceLevels`, `titan_getPammQuote` (`[tokenIn, tokenOut, amountIn]`) and `titan_getPammQuoteVenue` ' +
        '(`[venue, tokenIn, tokenOut, amountIn]`; amounts in hex; a venue is a pool or a router). Over a WebSocket also `pamm_subscribe` and `pamm_unsubscribe`.',
    ),
  params: z
    .union([z.array(z.unknown()), z.strictObject({})])
    .nullish()
    .describe('By position. `null` and `{}` are as none.'),
});

export const RpcResponse = documented('RpcResponse', 'The response to one call.', {
  jsonrpc: JsonRpc,
  id: Id,
  result: z
    .union([StatusResult, z.unknown()])
    .optional()
    .describe('Of a call that succeeded; the first schema is that of `pamm_status`.'),
  error: z
    .strictObject({
      code: z
        .int()
        .describe(
          'A code of JSON-RPC 2.0, -32000 (unavailable: retry), -32001 (no pool for the order) or -32005 (limit).',
        ),
      message: z.string().describe('What is wrong, as a human-readable sentence.'),
    })
    .optional()
    .describe('Of a call that failed.'),
});

const rpcFailure = (description: string) => ({ description, content: jsonContent(RpcResponse) });

export const callTakers = {
  operationId: 'callTakers',
  method: 'post',
  path: '/rpc/{chain_id}',
  limit: 'batch',
  key: 'optional',
  compress: true,
  tag: 'Quotes',
  summary: 'JSON-RPC of takers: price levels and state overrides',
  description:
    'The calls that takers know from relayers and builders, alone or in batches of up to 20; a key may also go in ' +
    '`X-Api-Key`. What the calls of a batch show is of one state. Each quote, and levels of chosen pools, count in the limit, the ' +
    'first with its request. State overrides are of live sources that agree to be ' +
    'passed on. Notifications alone return 204. `/asyncapi.json` describes the WebSocket at the same path.',
  request: {
    params: z.object({ chain_id: ChainIdPath }),
    body: {
      schema: z.union([RpcCall, z.array(RpcCall)]),
      example: { jsonrpc: '2.0', id: 1, method: 'pamm_status', params: [] },
    },
  },
  answer: {
    description: 'The response, or one for each call of a batch that has an id',
    schema: z.union([RpcResponse, z.array(RpcResponse)]),
    headers: TakersHeaders,
    example: { jsonrpc: '2.0', id: 1, result: STATUS_EXAMPLE },
  },
  failures: {
    400: rpcFailure('Invalid chain id'),
    404: rpcFailure('Unknown chain'),
    413: rpcFailure(`Body larger than ${MAX_BODY_BYTES} bytes`),
    429: { ...rpcFailure(COMMON_FAILURES[429].description), isRetried: true },
    500: { ...rpcFailure(COMMON_FAILURES[500].description), isRetried: true },
  },
} as const satisfies ApiRoute;

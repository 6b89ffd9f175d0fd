import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { badQuery } from '../errors.ts';
import {
  ChainIdPath,
  COMMON_FAILURES,
  errorOrTextResponse,
  errorResponse,
  jsonContent,
} from '../reference/responses.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import type { PoolDirectory } from '../snapshots/pool-directory.ts';
import { SnapshotError, type SnapshotService } from '../snapshots/types.ts';
import { quoteResponse } from './quote-body.ts';
import { poolAddressParam, poolNotServed, snapshotFailure } from './quote-errors.ts';
import { Quote } from './quote-schema.ts';

export interface QuotesDeps {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  readonly snapshots: SnapshotService;
  /** After this a batch fails as a whole, without partial results. Default: 20 seconds, as the contract says. */
  readonly batchDeadlineMs?: number;
}

const Query = z.object({
  depth: z.boolean().default(true).openapi({ description: 'false leaves depth out.' }),
});

const route = createRoute({
  operationId: 'getBidAsk',
  method: 'get',
  path: '/public/v1/evm/{chain_id}/{pool_address}/bid_ask',
  summary: 'Current bid, ask and depth of one pool',
  request: {
    params: z.object({ chain_id: ChainIdPath, pool_address: z.string() }),
    query: Query,
  },
  responses: {
    200: { description: 'The quote; any status but `healthy` means: do not trade', content: jsonContent(Quote) },
    ...COMMON_FAILURES,
    400: errorOrTextResponse('Invalid chain id or address; a bad `depth` is answered in plain text'),
    404: errorResponse('Unknown chain, or a pool that is not served on it'),
    500: errorResponse('The pool could not be read onchain; retry'),
    503: errorResponse('A concurrent read timed out, or the price source was too slow; retry'),
  },
});

/** `GET /public/v1/evm/{chain_id}/{pool_address}/bid_ask` */
export function registerBidAsk(app: OpenAPIHono, { chains, directory, snapshots }: QuotesDeps): void {
  app.openAPIRegistry.registerPath(route);
  app.get(route.getRoutingPath(), async (c) => {
    const chainId = chainIdParam(c);
    const address = poolAddressParam(c.req.param('pool_address'));
    const depth = depthParam(c);
    const chain = servedChain(chains, chainId);
    const pool = (await directory.table()).find(chain.chainId, address);
    if (!pool) throw poolNotServed(address);
    const kind = depth ? 'depths' : 'prices';
    const snapshot =
      snapshots.cached(chain.chainId, pool, kind) ?? (await snapshots[kind](chain.chainId, [pool])).get(address);
    if (!snapshot) throw new Error(`no snapshot and no error for ${address}`);
    if (snapshot instanceof SnapshotError) throw snapshotFailure(snapshot);
    return quoteResponse(c, snapshot);
  });
}

/** @throws ApiError 400, plain text, unless it is absent, `true` or `false` */
function depthParam(c: Context): boolean {
  const text = c.req.query('depth') ?? 'true';
  if (text !== 'true' && text !== 'false') throw badQuery('depth: expected true or false');
  return text === 'true';
}

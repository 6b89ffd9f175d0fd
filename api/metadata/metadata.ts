import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type pg from 'pg';
import { MetadataPage } from '../../db/listing/pool-record.ts';
import { acceptsGzip } from '../http/accepts-gzip.ts';
import {
  ChainIdPath,
  COMMON_FAILURES,
  errorOrTextResponse,
  errorResponse,
  jsonContent,
} from '../reference/responses.ts';
import { chainIdParam, parseQuery, type ServedChains, servedChain } from '../request.ts';
import { askedChains, assertReleaseServed, listedChain } from './listed-chains.ts';
import { createPageReader } from './page.ts';
import type { RenderedPage } from './page-cache.ts';
import {
  CROSS_CHAIN_SORTS,
  parseChainIds,
  RawCrossChainQuery,
  RawListingQuery,
  SORTS,
  toListingQuery,
} from './query.ts';

export type MetadataDeps = {
  readonly chains: ServedChains;
  /** The replica, when there is one: the listing only reads. */
  readonly database: pg.Pool;
  /** A price status read longer ago than this is shown as `unknown`. */
  readonly statusMaxAgeSecs: number;
};

const responses = {
  200: { description: 'A page of pools', content: jsonContent(MetadataPage) },
  ...COMMON_FAILURES,
  400: errorOrTextResponse('A parameter is malformed (plain text) or has a value that is not allowed (JSON)'),
  404: errorResponse('Unknown chain or contract version'),
  503: errorResponse('Service temporarily unavailable; retry'),
};

const chainRoute = createRoute({
  operationId: 'listPools',
  method: 'get',
  path: '/public/v1/evm/{chain_id}/metadata',
  summary: 'List the pools of one chain',
  request: { params: z.object({ chain_id: ChainIdPath }), query: RawListingQuery },
  responses,
});

const crossChainRoute = createRoute({
  operationId: 'listPoolsAcrossChains',
  method: 'get',
  path: '/public/v1/evm/metadata',
  summary: 'List pools across chains',
  request: { query: RawCrossChainQuery },
  responses,
});

/** `GET /public/v1/evm/{chain_id}/metadata` and `GET /public/v1/evm/metadata`. */
export function registerMetadata(app: OpenAPIHono, { chains, database, statusMaxAgeSecs }: MetadataDeps): void {
  const readPage = createPageReader(database, statusMaxAgeSecs);

  app.openAPIRegistry.registerPath(chainRoute);
  app.get(chainRoute.getRoutingPath(), async (c) => {
    const chainId = chainIdParam(c);
    const raw = parseQuery(c, RawListingQuery);
    const chain = servedChain(chains, chainId);
    const query = toListingQuery(raw, SORTS);
    assertReleaseServed([chain], query.contractVersion);
    return send(c, await readPage(query, { single: true, chains: [listedChain(chain, query.contractVersion)] }));
  });

  app.openAPIRegistry.registerPath(crossChainRoute);
  app.get(crossChainRoute.getRoutingPath(), async (c) => {
    const raw = parseQuery(c, RawCrossChainQuery);
    const query = toListingQuery(raw, CROSS_CHAIN_SORTS);
    const asked = askedChains(chains, parseChainIds(raw.chainIds));
    assertReleaseServed(asked.length > 0 ? asked : [...chains.values()], query.contractVersion);
    const listed = asked.map((chain) => listedChain(chain, query.contractVersion));
    return send(c, await readPage(query, { single: false, chains: listed }));
  });
}

/** Smaller pages are sent as they are. */
const COMPRESS_FROM_BYTES = 4 * 1024;

/** Sends a page, compressed where the client takes it so. Both forms are the same page, which a weak tag may say. */
async function send(c: Context, page: RenderedPage): Promise<Response> {
  const isZipped = page.bytes >= COMPRESS_FROM_BYTES && acceptsGzip(c);
  const body = isZipped ? await page.zipped() : page.body;
  return c.body(body, 200, {
    'Content-Type': 'application/json',
    // Told here so that an answer to HEAD, which has no body, tells it too.
    'Content-Length': String(isZipped ? body.length : page.bytes),
    ETag: `W/"${page.tag}"`,
    Vary: 'Accept-Encoding',
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
  });
}

import { z } from '@hono/zod-openapi';
import { Integer } from '../request.ts';
import { ChainIdPath, errorOrTextResponse, errorResponse, PoolAddressPath, retriedResponse } from './responses.ts';

/** Size of a page. */
export const pageLimit = (usual: number, most: number) =>
  Integer.default(usual).openapi({
    type: 'integer',
    minimum: 0,
    default: usual,
    example: 2,
    description: `Page size; more than ${most} acts as ${most}, 0 as 1.`,
  });

/** The path of a route of one pool. */
export const poolParams = z.object({ chain_id: ChainIdPath, pool_address: PoolAddressPath });

export const POOL_PAGE_FAILURES = {
  400: errorOrTextResponse('A parameter is malformed (plain text), or has a value that is not allowed (JSON)'),
  404: errorResponse('Unknown chain, or a pool that is not served on it'),
  503: retriedResponse('Service temporarily unavailable'),
} as const;

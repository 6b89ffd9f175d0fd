import { z } from '@hono/zod-openapi';
import { ChainIdPath, errorOrTextResponse, errorResponse, PoolAddressPath } from '../declaration/responses.ts';
import { Integer } from '../request.ts';

export const DEFAULT_LIMIT = 100;

export const Before = Integer.refine((value) => value >= 0 && value < 2 ** 40, 'not a time')
  .optional()
  .openapi({
    type: 'integer',
    example: 1_795_000_000,
    description:
      'Only what starts before this time, Unix seconds: `nextBefore` of the page before. Default: the newest.',
  });

export const limitOf = (most: number) =>
  Integer.optional().openapi({
    type: 'integer',
    minimum: 0,
    default: DEFAULT_LIMIT,
    example: 2,
    description: `Page size; more than ${most} acts as ${most}, 0 as 1.`,
  });

export const Amount = z.string().regex(/^\d+$/);
export const Price = Amount.nullable();

export const nextBefore = z.int().nullable().describe('`before` of the next page; null on the last one.');

/** What the routes of a pool's history have in common. */
export const HISTORY = {
  method: 'get',
  limit: 'history',
  key: 'optional',
  compress: true,
  tag: 'Listing',
  failures: {
    400: errorOrTextResponse('A parameter is malformed (plain text), or has a value that is not allowed (JSON)'),
    404: errorResponse('Unknown chain, or a pool that is not served on it'),
    503: errorResponse('Service temporarily unavailable; retry'),
  },
} as const;
export const params = z.object({ chain_id: ChainIdPath, pool_address: PoolAddressPath });

import { z } from '@hono/zod-openapi';
import { documented } from '../declaration/documented.ts';
import { POOL_PAGE_FAILURES, pageLimit } from '../declaration/pool-page.ts';
import { Integer } from '../request.ts';

const DEFAULT_LIMIT = 100;

export const Before = Integer.refine((value) => value >= 0 && value < 2 ** 40, 'not a time')
  .optional()
  .openapi({
    type: 'integer',
    example: 1_795_000_000,
    description:
      'Only what starts before this time, Unix seconds: `nextBefore` of the page before. Default: the newest.',
  });

export const limitOf = (most: number) => pageLimit(DEFAULT_LIMIT, most);

export const Amount = z.string().regex(/^\d+$/);
export const Price = Amount.nullable();

/** A page of rows of a pool's history. */
export const historyPage = <Row extends z.ZodType>(
  name: string,
  description: string,
  row: Row,
  order = 'Newest first.',
) =>
  documented(name, description, {
    data: z.array(row).describe(order),
    nextBefore: z.int().nullable().describe('`before` of the next page; null on the last one.'),
  });

/** What the routes of a pool's history have in common. */
export const HISTORY = {
  method: 'get',
  limit: 'history',
  key: 'optional',
  compress: true,
  tag: 'Listing',
  failures: POOL_PAGE_FAILURES,
} as const;

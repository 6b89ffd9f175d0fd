import { z } from '@hono/zod-openapi';
import { EXECUTABILITY_EXAMPLE, Executability } from '../../db/listing/executability.ts';
import { Address } from '../../db/listing/pool-record.ts';
import type { ApiRoute } from '../declaration/api-route.ts';
import { documented } from '../declaration/documented.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { basisQuery } from '../declaration/quote-basis.ts';
import {
  BlockHeaders,
  ChainIdPath,
  errorOrTextResponse,
  errorResponse,
  retriedResponse,
  TakersHeaders,
} from '../declaration/responses.ts';
import { uint64 } from '../declaration/uint64.ts';
import { RawListingQuery } from '../listing/query-string.ts';
import { MAX_NAMED_POOLS, poolsQuery } from '../sockets/pool-lists.ts';
import { FORMATS, FORMS, type LevelsFormat } from './forms.ts';

/** Most that `levels` may ask for. */
export const MAX_LEVELS = 100;

export const RawLevelsQuery = z.object({
  pools: poolsQuery.openapi({
    description: `1 to ${MAX_NAMED_POOLS} pool addresses in any case, with commas. Without it all listed pools with a key, and those of most value without.`,
  }),
  format: z
    .string()
    .optional()
    .openapi({ enum: FORMATS, default: 'builder', example: 'builder', description: 'Form of the frames.' }),
  venue: z
    .string()
    .optional()
    .openapi({ example: EXAMPLE.pool, description: 'Shown as the venue of all pools, such as a router.' }),
  levels: z
    .string()
    .optional()
    .openapi({
      example: '20',
      description: `Most levels of a pair, 1 to ${MAX_LEVELS}, unless the line between fewer promises more than the pool pays. By default all.`,
    }),
  tier: RawListingQuery.shape.tier,
  minTvlFiat: RawListingQuery.shape.minTvlFiat.openapi({ default: 0, description: 'Least TVL, USD; 0: any.' }),
  ...basisQuery,
});

const Amount = z.string().regex(/^0x[1-9a-f][0-9a-f]*$/);
const blockNumber = z.int().describe('The block that is being built.');

const parent = z
  .strictObject({ number: z.int().describe('Its number.'), hash: z.string().describe('Its hash.') })
  .describe(
    'The block that the pools were read at. After a reorganisation it has another hash at the same number, or a lower one.',
  );

const omitted = z
  .int()
  .optional()
  .describe(
    'Only without a key and a choice of pools: how many listed pools the frame leaves out, those of least value first.',
  );

const OF_AN_HOUR = 'Of the last 60 minutes.';
const { committedShare, liveShare } = Executability.shape;
const recentShares = {
  committedShare: committedShare.describe(`${committedShare.description} ${OF_AN_HOUR}`),
  liveShare: liveShare.describe(`${liveShare.description} ${OF_AN_HOUR}`),
};

/** The pools of a frame in a form. */
function pammsOf(format: LevelsFormat) {
  const { list, kind, exact, other } = FORMS[format];
  const level = z.strictObject({
    amountIn: Amount.describe('Exact input in all, raw units, hex.'),
    amountOut: Amount.describe('What the pool pays for all of it, raw units, hex.'),
    [kind]: z
      .enum([exact, other])
      .describe(`\`${exact}\`: exact to the unit. \`${other}\`: the pool pays at least this.`),
  });
  const pair = z.strictObject({
    tokenIn: Address.describe('Token that is sold.'),
    tokenOut: Address.describe('Token that is bought.'),
    [list]: z.array(level).describe('Ascending; the last one is the end of the side.'),
    minAmountIn: Amount.nullable().describe(
      'The smallest exact input that fills, raw units, hex; null where the formula of the pool is not known.',
    ),
    gas: z
      .int()
      .nullable()
      .describe('Gas of a swap of the whole side in the pool, simulated each hour; null: not yet, or it fails.'),
    ...recentShares,
  });
  const pamm = z.strictObject({
    pamm: Address.describe('The pool, or `venue`.'),
    pairs: z.array(pair).describe('One for each direction of a pool that trades.'),
  });
  return z.array(pamm).describe('Healthy pools that anyone may trade with.');
}

export const BuilderFrame = documented('BuilderPriceLevels', "Price levels in a block builder's form.", {
  slot: z.int().optional().describe('Its slot, where the chain has slots.'),
  blockNumber,
  timestamp: uint64('When the frame was made, Unix nanoseconds.'),
  parent,
  pamms: pammsOf('builder'),
  omitted,
});

export const Bap710Frame = documented('Bap710PriceLevels', 'Price levels in the form of BAP-710.', {
  blockNumber,
  millisTimestamp: z.int().describe('When the frame was made, Unix milliseconds.'),
  parent,
  pamms: pammsOf('bap710'),
  omitted,
});

const ORDER_BOOK = [{ amountIn: '0xde0b6b3a7640000', amountOut: '0xb2b3b0a0', variant: 'Simulated' }];
const { ownLandedShare: _, sealedShare: __, ...SHARES_EXAMPLE } = EXECUTABILITY_EXAMPLE;
const PAIR_EXAMPLE = {
  tokenIn: EXAMPLE.weth,
  tokenOut: EXAMPLE.usdc,
  orderBook: ORDER_BOOK,
  minAmountIn: '0x14c9f2a1',
  gas: 182000,
  ...SHARES_EXAMPLE,
};
const PAMMS_EXAMPLE = [{ pamm: EXAMPLE.pool, pairs: [PAIR_EXAMPLE] }];
const PARENT_EXAMPLE = { number: 40043187, hash: `0x${'5c'.repeat(32)}` };
const FRAME_EXAMPLE = {
  blockNumber: 40043188,
  timestamp: 1794999975000000000,
  parent: PARENT_EXAMPLE,
  pamms: PAMMS_EXAMPLE,
};

export const getPriceLevels = {
  operationId: 'getPriceLevels',
  method: 'get',
  path: '/public/v1/evm/{chain_id}/price_levels',
  limit: 'batch',
  key: 'optional',
  tag: 'Quotes',
  summary: 'Price levels of pools, in the forms that takers read',
  description:
    'What each pool pays for ascending exact inputs in the block that is being built: geometric steps and the end of each ' +
    'bin. A WebSocket at the same path sends such frames, at most four a second and at least one; `/asyncapi.json` has its ' +
    'messages. All pools of a frame are of one block; named pools that are not served are left out. Without a key and without ' +
    '`pools`, `venue`, `levels`, `tier` and `minTvlFiat` it is one frame for everybody: the listed pools of most value, below 900 kB.',
  request: { params: z.object({ chain_id: ChainIdPath }), query: RawLevelsQuery },
  answer: {
    description: 'A frame',
    schema: z.union([BuilderFrame, Bap710Frame]),
    example: FRAME_EXAMPLE,
    headers: BlockHeaders.extend(TakersHeaders.shape),
  },
  failures: {
    401: errorResponse('`tier`, `minTvlFiat`, `levels` or `venue` without `pools` and without a key'),
    400: errorOrTextResponse('Invalid chain id, address, number of pools or filter; bad syntax returns plain text'),
    404: errorResponse('Unknown chain'),
    503: retriedResponse('Not all pools can be read, or no further connection is accepted'),
  },
} as const satisfies ApiRoute;

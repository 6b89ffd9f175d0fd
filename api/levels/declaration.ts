import { z } from '@hono/zod-openapi';
import type { ApiRoute } from '../declaration/api-route.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { basisQuery } from '../declaration/quote-basis.ts';
import { ChainIdPath, errorOrTextResponse, errorResponse } from '../declaration/responses.ts';
import { RawListingQuery } from '../metadata/query-string.ts';
import { uint64 } from '../pamm/body-shape.ts';
import { MAX_NAMED_POOLS } from '../stream/declaration.ts';

export const RawLevelsQuery = z.object({
  pools: z
    .string()
    .optional()
    .openapi({
      example: EXAMPLE.pool,
      description: `1 to ${MAX_NAMED_POOLS} pool addresses in any case, with commas. Without it all listed pools; that takes a key.`,
    }),
  format: z
    .string()
    .optional()
    .openapi({
      enum: ['builder', 'bap710'],
      default: 'builder',
      example: 'builder',
      description: 'Form of the frames.',
    }),
  venue: z
    .string()
    .optional()
    .openapi({ example: EXAMPLE.pool, description: 'Shown as the venue of all pools, such as a router.' }),
  tier: RawListingQuery.shape.tier,
  minTvlFiat: RawListingQuery.shape.minTvlFiat.openapi({ default: 0, description: 'Least TVL, USD; 0: any.' }),
  ...basisQuery,
});

const Address = z.string().regex(/^0x[0-9a-f]{40}$/);
const Amount = z.string().regex(/^0x[1-9a-f][0-9a-f]*$/);
const amounts = {
  amountIn: Amount.describe('Exact input from the first unit on, raw units, hex.'),
  amountOut: Amount.describe('What the pool pays for all of it, raw units, hex.'),
};
const tokens = {
  tokenIn: Address.describe('Token that is sold.'),
  tokenOut: Address.describe('Token that is bought.'),
};
const pammsOf = (pair: z.ZodObject) =>
  z
    .array(
      z.strictObject({
        pamm: Address.describe('The pool, or `venue`.'),
        pairs: z.array(pair).describe('One for each direction of a pool that trades.'),
      }),
    )
    .describe('Healthy pools that anyone may trade with.');
const ascending = 'Ascending; the last one is the end of the side.';
const BuiltBlock = z.int().describe('The block that is being built.');

export const BuilderFrame = z
  .strictObject({
    slot: z.int().optional().describe('Its slot, where the chain has slots.'),
    blockNumber: BuiltBlock,
    timestamp: uint64('When the frame was made, Unix nanoseconds.'),
    pamms: pammsOf(
      z.strictObject({
        ...tokens,
        orderBook: z
          .array(
            z.strictObject({
              ...amounts,
              variant: z
                .enum(['Simulated', 'Interpolated'])
                .describe('`Simulated`: exact to the unit. `Interpolated`: the pool pays at least this.'),
            }),
          )
          .describe(ascending),
      }),
    ),
  })
  .openapi('BuilderPriceLevels', { description: "Price levels in a block builder's form." });

export const Bap710Frame = z
  .strictObject({
    blockNumber: BuiltBlock,
    millisTimestamp: z.int().describe('When the frame was made, Unix milliseconds.'),
    pamms: pammsOf(
      z.strictObject({
        ...tokens,
        levels: z
          .array(
            z.strictObject({
              ...amounts,
              source: z.enum(['simulated', 'interpolated']).describe('As `variant` of the other form.'),
            }),
          )
          .describe(ascending),
      }),
    ),
  })
  .openapi('Bap710PriceLevels', { description: 'Price levels in the form of BAP-710.' });

const FRAME_EXAMPLE = {
  blockNumber: 40043188,
  timestamp: 1794999975000000000,
  pamms: [
    {
      pamm: EXAMPLE.pool,
      pairs: [
        {
          tokenIn: EXAMPLE.weth,
          tokenOut: EXAMPLE.usdc,
          orderBook: [
            { amountIn: '0xde0b6b3a7640000', amountOut: '0xb2b3b0a0', variant: 'Simulated' },
            { amountIn: '0x378cf5ff0e8f0691', amountOut: '0x2cb40ee60', variant: 'Simulated' },
          ],
        },
      ],
    },
  ],
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
    'messages. Named pools that are not served are left out.',
  request: { params: z.object({ chain_id: ChainIdPath }), query: RawLevelsQuery },
  answer: { description: 'A frame', schema: z.union([BuilderFrame, Bap710Frame]), example: FRAME_EXAMPLE },
  failures: {
    400: errorOrTextResponse('Invalid chain id, address, number of pools or filter; bad syntax returns plain text'),
    404: errorResponse('Unknown chain'),
    503: errorResponse('No pool can be read, or no further connection is accepted; retry'),
  },
} as const satisfies ApiRoute;

import { z } from '@hono/zod-openapi';

const Integer = z.string().regex(/^\d+$/);
const Address = z.string().regex(/^0x[0-9a-f]{40}$/);
const PriceX64 = Integer.openapi({ description: 'Q64.64', example: '55340232221128654848' });

export const DepthLevel = z
  .strictObject({
    binIdx: z.int().openapi({ description: "The pool's own bin index." }),
    price: PriceX64.openapi({
      description: "Fee-adjusted marginal price at the bin's far edge, with that bin's own fee, Q64.64.",
    }),
    cumulativeVolume: Integer.openapi({ description: 'Output received through the end of the bin, raw units.' }),
    cumulativeInputVolume: Integer.openapi({ description: 'Input paid through the end of the bin, raw units.' }),
    priceImpactE6: Integer.openapi({ description: 'Distance of `price` from the best price, in millionths.' }),
  })
  .openapi('DepthLevel');

export const Depth = z
  .strictObject({
    bids: z.array(DepthLevel).openapi({ description: 'Selling token0, from the current bin down.' }),
    asks: z.array(DepthLevel).openapi({ description: 'Buying token0, from the current bin up.' }),
  })
  .openapi('Depth');

export const Quote = z
  .strictObject({
    pair: z.string().openapi({ example: 'WETH/USDC' }),
    poolAddress: Address,
    priceProviderStatus: z.enum(['healthy', 'feed_down', 'pool_refused', 'pool_paused', 'internal_error', 'unknown']),
    bidAdj: PriceX64.openapi({
      description: 'Best price for selling token0, spread and fees included; 0 when closed.',
    }),
    askAdj: PriceX64.openapi({ description: 'Best price for buying token0; 2^128 - 1 when closed.' }),
    totalToken0Available: Integer.nullable(),
    totalToken1Available: Integer.nullable(),
    serverTs: z.int().openapi({ description: 'Snapshot time, Unix seconds.' }),
    depth: Depth.nullable(),
  })
  .openapi('Quote');

export const BatchResult = z
  .union([
    z.strictObject({ poolAddress: z.string(), quote: Quote }),
    z.strictObject({ poolAddress: z.string(), error: z.strictObject({ status: z.int(), error: z.string() }) }),
  ])
  .openapi('BatchResult');

export const BatchResponse = z.strictObject({ results: z.array(BatchResult) }).openapi('BatchResponse');

/** Shape alone: how many addresses there are, and whether they are any, is told apart in the errors. */
export const BatchRequest = z
  .strictObject({
    pools: z.array(z.string()).openapi({ description: '1 to 100 pool addresses.' }),
    depth: z.boolean().nullish().openapi({ default: true, description: 'false leaves depth out.' }),
  })
  .openapi('BatchRequest');

import { z } from '@hono/zod-openapi';
import { Address } from '../../db/listing/pool-record.ts';
import { QUOTE_STATUSES } from '../../protocol/quote-status.ts';
import { stringList } from '../body.ts';
import { documented } from '../declaration/documented.ts';
import { basisFields, quotedFields } from '../declaration/quote-basis.ts';

const Integer = z.string().regex(/^\d+$/);
const PriceX64 = Integer.openapi({ description: 'Q64.64', example: '55340232221128654848' });

export const DepthLevel = documented(
  'DepthLevel',
  'The pool up to the far edge of a bin. A level that adds nothing repeats sums.',
  {
    binIdx: z.int().openapi({ description: "The pool's own bin index; both sides start at the current bin." }),
    price: PriceX64.openapi({
      description: "Fee-adjusted marginal price at the bin's far edge, with that bin's own fee, Q64.64.",
    }),
    cumulativeVolume: Integer.openapi({ description: 'Output received through the end of the bin, raw units.' }),
    cumulativeInputVolume: Integer.openapi({ description: 'Input paid through the end of the bin, raw units.' }),
    priceImpactE6: Integer.openapi({ description: 'Distance of `price` from the best price, in millionths.' }),
  },
);

export const Depth = documented('Depth', 'Levels outward from the current price; null with `depth=false`.', {
  bids: z.array(DepthLevel).openapi({ description: 'Selling token0, from the current bin down.' }),
  asks: z.array(DepthLevel).openapi({ description: 'Buying token0, from the current bin up.' }),
});

export const Quote = documented('Quote', 'Bid, ask and depth of a pool.', {
  pair: z.string().openapi({ example: 'WETH/USDC', description: 'Symbols of token0 and token1.' }),
  poolAddress: Address.describe('The pool, in lowercase.'),
  priceProviderStatus: z
    .enum(QUOTE_STATUSES)
    .describe('Only `healthy` can be traded on; `internal_error` is a fault of the service: retry.'),
  bidAdj: PriceX64.openapi({
    description: 'Best price for selling token0, Q64.64: token1 per token0, spread and fees included; 0 when closed.',
  }),
  askAdj: PriceX64.openapi({ description: 'Best price for buying token0, as `bidAdj`; 2^128 - 1 when closed.' }),
  totalToken0Available: Integer.nullable().describe(
    'token0 balance of the pool, raw units, uncollected fees included; null when not read.',
  ),
  totalToken1Available: Integer.nullable().describe('The same of token1.'),
  serverTs: z.int().openapi({ description: 'Snapshot time, Unix seconds.' }),
  depth: Depth.nullable(),
  ...quotedFields,
});

const NamedPool = z.string().describe('The pool as the request spells it.');

const PoolError = z.strictObject({
  status: z.int().describe('HTTP status that the single endpoint would return.'),
  error: z.string().describe('What is wrong, as a human-readable sentence.'),
});

export const BatchResult = z
  .union([
    z.strictObject({ poolAddress: NamedPool, quote: Quote }),
    z.strictObject({ poolAddress: NamedPool, error: PoolError.describe('Why there is no quote.') }),
  ])
  .openapi('BatchResult', { description: 'Of one pool: either its quote or an error.' });

export const BatchResponse = documented('BatchResponse', 'Quotes of several pools.', {
  results: z.array(BatchResult).describe('One entry per distinct pool, in request order.'),
  overrides: quotedFields.overrides,
});

/** Checks the shape only: the handler checks the number of addresses and each address, and names what is wrong. */
export const BatchRequest = documented('BatchRequest', 'Pools to be quoted. Other fields are rejected.', {
  pools: stringList(z.array(z.string())).openapi({
    description: '1 to 100 pool addresses in any case, repeats counted; each is quoted once.',
  }),
  depth: z.boolean().nullish().openapi({ default: true, description: 'False leaves `depth` out; null acts as true.' }),
  ...basisFields,
});

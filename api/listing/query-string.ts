import { z } from '@hono/zod-openapi';
import { MAX_SEARCH_LENGTH } from '../../db/listing/search-terms.ts';
import { EXAMPLE } from '../declaration/example-market.ts';
import { Integer } from '../request.ts';

/** Sort orders of the listing of one chain; across chains there is no `created`. */
export const SORTS = ['tiered', 'tvl', 'created', 'volume', 'apr', 'apr7d', 'change', 'depth', 'persistence'] as const;
export type Sort = (typeof SORTS)[number];

/** Pools on a page when the request does not say. */
export const DEFAULT_COUNT = 50;

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const decimal = z
  .string()
  .regex(NUMBER, 'not a number')
  .transform(Number)
  .refine(Number.isFinite, 'not a finite number');
const boolean = z.enum(['true', 'false'], 'not true or false').transform((text) => text === 'true');

const flag = (description: string, example = false) =>
  boolean.optional().openapi({ type: 'boolean', default: false, example, description });
const text = z.string().optional();
const sortBy = (sorts: readonly Sort[]) =>
  text.openapi({
    enum: [...sorts],
    default: 'tiered',
    example: 'tvl',
    description:
      'Case-insensitive. `tiered`: by tier, then by TVL, as ties of `volume` are. `change`, `depth`: by `trend24h`; `persistence`: by `p95Bps`.',
  });

/** The query string's syntax. Errors in it are reported in plain text. Unknown parameters are dropped. */
export const RawListingQuery = z.object({
  count: Integer.optional().openapi({
    type: 'integer',
    minimum: 0,
    description: 'Page size; more than 500 acts as 500, 0 as 1.',
    default: DEFAULT_COUNT,
    example: 2,
  }),
  offset: Integer.optional().openapi({
    type: 'integer',
    minimum: 0,
    default: 0,
    example: 0,
    description: 'Index of the first pool.',
  }),
  sortBy: sortBy(SORTS),
  sortOrder: text.openapi({
    enum: ['asc', 'desc'],
    default: 'desc',
    example: 'desc',
    description: 'Pools without a key come last.',
  }),
  include24h: flag('Adds `tvlFiat` and `analytics24h`.', true),
  minTvlFiat: decimal.optional().openapi({
    type: 'number',
    example: 0,
    description: 'Least TVL, USD; 0 lists all. 10, or 0 with `addresses` or `blacklistedOnly=true`.',
  }),
  maxPersistenceBps: decimal.optional().openapi({
    type: 'number',
    example: 5,
    description: 'Only pools with at most this `p95Bps` in `persistence24h`.',
  }),
  tier: text.openapi({
    example: 'green,yellow',
    description: 'Only these tiers: some of `green`, `yellow`, `red`, separated by commas.',
  }),
  lockedPricingOnly: flag('True: only pools with `lockedPricing`.'),
  depositAllowlistEnabled: flag('True: only pools whose deposits are restricted.'),
  blacklistedOnly: flag('True: delisted pools instead of listed ones.'),
  search: text.openapi({
    minLength: 2,
    maxLength: MAX_SEARCH_LENGTH,
    example: 'weth',
    description:
      'Only pools of which this begins the address, the address or symbol of a token, or the pair, either way round ' +
      'as in `usdc/weth`; in any case. White space at its ends is left out; control characters are rejected.',
  }),
  addresses: text.openapi({
    example: EXAMPLE.pool,
    description: 'Only these pools: at most 500, separated by commas. Not with `blacklistedOnly=true`.',
  }),
  contract_version: text.openapi({
    example: 'v1',
    description: 'Only pools of this release; one that none of the chains has enabled gives 404.',
  }),
  fiat: text.openapi({ enum: ['USD'], default: 'USD', example: 'USD', description: 'Currency of fiat amounts.' }),
});
export type RawListingQuery = z.output<typeof RawListingQuery>;

/** Sort orders of the listing across chains, where block numbers do not compare. */
export const CROSS_CHAIN_SORTS = SORTS.filter((sort) => sort !== 'created');

/** {@link RawListingQuery} of the listing across chains. */
export const RawCrossChainQuery = RawListingQuery.extend({
  sortBy: sortBy(CROSS_CHAIN_SORTS),
  chainIds: text.openapi({
    example: '1,8453',
    description: 'Only these chains, separated by commas; unknown ids yield no rows.',
  }),
});

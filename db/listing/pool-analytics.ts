import { z } from '@hono/zod-openapi';

export const FiatNumber = z.number().openapi({ description: 'USD' });
const RawAmount = z.string().regex(/^\d+$/).openapi({ description: 'Raw token units' });
const SignedRawAmount = z
  .string()
  .regex(/^-?\d+$/)
  .openapi({ description: 'Raw token units, may be negative' });
const Count = z.int().nonnegative();
const Timestamp = z.int().nonnegative().openapi({ description: 'Unix seconds' });
/** A uint64. The parser reads it as a bigint above 2^53 - 1, to keep it exact. */
export const Uint64 = z
  .union([z.int().nonnegative(), z.bigint().nonnegative()])
  .openapi({ type: 'integer', format: 'uint64' });
const Percent = z.number().min(0).max(100);

const TokenAnalytics = z.strictObject({
  liquidityRaw: RawAmount.describe('Liquidity owned by LPs, raw token units.'),
  volumeRaw: RawAmount.describe('Swapped in the window, raw token units.'),
  inflowRaw: RawAmount.describe('Received in the window, raw token units.'),
  outflowRaw: RawAmount.describe('Paid out in the window, raw token units.'),
  netRaw: SignedRawAmount.describe('Inflow less outflow, raw token units, may be negative.'),
  liquidityFiat: FiatNumber.nullable().describe('Liquidity owned by LPs, USD; null without a price.'),
  volumeFiat: FiatNumber.nullable().describe('Swapped in the window, USD; null without a price.'),
  inflowFiat: FiatNumber.nullable().describe('Received in the window, USD; null without a price.'),
  outflowFiat: FiatNumber.nullable().describe('Paid out in the window, USD; null without a price.'),
  netFiat: FiatNumber.nullable().describe('Inflow less outflow, USD, may be negative; null without a price.'),
});

/** Activity of a pool in the window (fromTs, toTs]. A refresh uses one window for all pools. */
export const PoolAnalytics = z
  .strictObject({
    fromTs: Timestamp.describe('Start of the window, exclusive, Unix seconds.'),
    toTs: Timestamp.describe('End of the window, inclusive, Unix seconds.'),
    generatedAtTs: Timestamp.describe('When these figures were computed, Unix seconds.'),
    fromBlock: z.int().describe('First block of the chain inside the window.'),
    toBlock: z.int().describe('Last block of the chain inside the window.'),
    swapTxCount: Count.describe('Distinct transactions with a swap in the pool.'),
    transfers: Count.describe('Token amounts that moved in or out of the pool: one per non-zero amount of an event.'),
    liquidityEventCount: Count.describe('Additions and removals of liquidity.'),
    liquidityAddEventCount: Count.describe('Additions of liquidity.'),
    liquidityRemoveEventCount: Count.describe('Removals of liquidity.'),
    token0: TokenAnalytics.describe('Amounts of token0.'),
    token1: TokenAnalytics.describe('Amounts of token1.'),
    volumeFiat: FiatNumber.nullable().describe(
      'Swapped in the window, each swap once, USD; null when it cannot be priced.',
    ),
    feesFiat: FiatNumber.nullable().describe(
      'Fees that traders paid in the window, USD; null when they are not known or cannot be priced.',
    ),
    tvlFiat: FiatNumber.nullable().describe('Current TVL, USD; null unless every token held is priced.'),
    aprBps: Uint64.nullable().openapi({
      type: ['integer', 'null'],
      description:
        'LP fees of the window over a year, basis points of TVL; null at zero or unknown TVL, or unknown fees.',
    }),
    fiatAvailable: z.boolean().describe('Whether any amount is priced.'),
    fiatCoveragePct: Percent.nullable().describe(
      'Priced share of the non-zero tokens, percent; null when nothing is priced.',
    ),
    usdCoveragePct: Percent.describe('Priced share of the non-zero tokens, percent; 0 when nothing is priced.'),
    fiatCurrency: z.literal('USD').describe('Always USD.'),
    fiatStatus: z
      .enum(['complete', 'partial', 'unavailable'])
      .describe('Whether all, some or none of the tokens are priced.'),
    pricingMode: z.literal('spot').describe('`spot`: amounts are priced at current prices.'),
  })
  .openapi('PoolAnalytics', { description: 'Figures of the last 24 hours; only with include24h=true.' });
export type PoolAnalytics = z.infer<typeof PoolAnalytics>;

/** Example in the OpenAPI document. Its type rejects an example that lacks a field. */
export const POOL_ANALYTICS_EXAMPLE: PoolAnalytics = {
  fromTs: 1794913600,
  toTs: 1795000000,
  generatedAtTs: 1795000002,
  fromBlock: 40000001,
  toBlock: 40043200,
  swapTxCount: 2,
  transfers: 4,
  liquidityEventCount: 0,
  liquidityAddEventCount: 0,
  liquidityRemoveEventCount: 0,
  token0: {
    liquidityRaw: '4000000000000000000',
    volumeRaw: '1500000000000000000',
    inflowRaw: '1000000000000000000',
    outflowRaw: '500000000000000000',
    netRaw: '500000000000000000',
    liquidityFiat: 12000,
    volumeFiat: 4500,
    inflowFiat: 3000,
    outflowFiat: 1500,
    netFiat: 1500,
  },
  token1: {
    liquidityRaw: '12000000000',
    volumeRaw: '4497750000',
    inflowRaw: '1501500000',
    outflowRaw: '2996250000',
    netRaw: '-1494750000',
    liquidityFiat: 12000,
    volumeFiat: 4497.75,
    inflowFiat: 1501.5,
    outflowFiat: 2996.25,
    netFiat: -1494.75,
  },
  volumeFiat: 4500,
  feesFiat: 4.5,
  tvlFiat: 24000,
  aprBps: 684,
  fiatAvailable: true,
  fiatCoveragePct: 100,
  usdCoveragePct: 100,
  fiatCurrency: 'USD',
  fiatStatus: 'complete',
  pricingMode: 'spot',
};

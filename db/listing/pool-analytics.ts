import { z } from '@hono/zod-openapi';

export const FiatNumber = z.number().openapi({ description: 'USD' });
const RawAmount = z.string().regex(/^\d+$/).openapi({ description: 'Raw token units' });
const SignedRawAmount = z
  .string()
  .regex(/^-?\d+$/)
  .openapi({ description: 'Raw token units, may be negative' });
const Count = z.int().nonnegative();
const Timestamp = z.int().nonnegative().openapi({ description: 'Unix seconds' });
/** Read as a bigint above 2^53 - 1, where the reader keeps integers exact. */
export const Uint64 = z
  .union([z.int().nonnegative(), z.bigint().nonnegative()])
  .openapi({ type: 'integer', format: 'uint64' });
const Percent = z.number().min(0).max(100);

const TokenAnalytics = z.strictObject({
  liquidityRaw: RawAmount,
  volumeRaw: RawAmount,
  inflowRaw: RawAmount,
  outflowRaw: RawAmount,
  netRaw: SignedRawAmount,
  liquidityFiat: FiatNumber.nullable(),
  volumeFiat: FiatNumber.nullable(),
  inflowFiat: FiatNumber.nullable(),
  outflowFiat: FiatNumber.nullable(),
  netFiat: FiatNumber.nullable(),
});

/** What happened in a pool in the window (fromTs, toTs], which is the same for every pool of a refresh. */
export const PoolAnalytics = z
  .strictObject({
    fromTs: Timestamp,
    toTs: Timestamp,
    generatedAtTs: Timestamp,
    fromBlock: z.int(),
    toBlock: z.int(),
    swapTxCount: Count,
    transfers: Count,
    liquidityEventCount: Count,
    liquidityAddEventCount: Count,
    liquidityRemoveEventCount: Count,
    token0: TokenAnalytics,
    token1: TokenAnalytics,
    volumeFiat: FiatNumber.nullable(),
    feesFiat: FiatNumber.nullable(),
    tvlFiat: FiatNumber.nullable(),
    aprBps: Uint64.nullable().openapi({
      type: ['integer', 'null'],
      description: 'LP fees per year, basis points of TVL.',
    }),
    fiatAvailable: z.boolean(),
    fiatCoveragePct: Percent.nullable(),
    usdCoveragePct: Percent,
    fiatCurrency: z.literal('USD'),
    fiatStatus: z.enum(['complete', 'partial', 'unavailable']),
    pricingMode: z.literal('spot'),
  })
  .openapi('PoolAnalytics');
export type PoolAnalytics = z.infer<typeof PoolAnalytics>;

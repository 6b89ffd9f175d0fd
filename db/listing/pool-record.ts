import { z } from '@hono/zod-openapi';
import { FiatNumber, PoolAnalytics, Uint64 } from './pool-analytics.ts';

const Address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .openapi({ example: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' });
const IntegerText = z
  .string()
  .regex(/^-?\d+$/)
  .openapi({ description: 'Decimal integer' });
const NullableInteger = IntegerText.nullable();
const Timestamp = z.int().nonnegative().openapi({ description: 'Unix seconds' });

const AnchoredDetails = z.strictObject({
  providerType: z.literal('anchored'),
  oracle: Address,
  feedMode: z.enum(['single', 'synthetic']),
  source: Address.optional().openapi({ description: 'Omitted in reference mode.' }),
  marginStep: NullableInteger,
  minMargin: NullableInteger,
  maxRefStaleness: NullableInteger,
  maxSpreadMult: NullableInteger,
  maxSpreadBps: NullableInteger,
  mutableParams: z.boolean(),
  confidenceParam: NullableInteger,
  baseMaxStaleness: NullableInteger,
  quoteMaxStaleness: NullableInteger,
  baseSpreadMult: NullableInteger,
  quoteSpreadMult: NullableInteger,
});

const RegularDetails = z.strictObject({
  providerType: z.literal('regular'),
  oracle: Address,
  marginStep: NullableInteger,
  maxTimeDelta: NullableInteger,
  confidenceParam: NullableInteger,
});

const phases = z.array(z.string());
const ExtensionDetails = z.strictObject({
  stopLoss: z
    .strictObject({
      drawdownE6: NullableInteger,
      decayPerSecondE18: NullableInteger,
      timelockSecs: NullableInteger,
      phases,
    })
    .optional(),
  priceVelocity: z.strictObject({ maxChangePerBlockE18: NullableInteger, phases }).optional(),
});

const ProviderChange = z.strictObject({
  newPriceProvider: Address,
  proposedAtBlock: z.int(),
  executeAfterTs: Uint64,
});

const FeePart = z.int().nonnegative().nullable();

/**
 * A pool as the listing shows it: what capture writes and the API promises. Optional fields are omitted when absent, nullable ones always there.
 */
export const PoolRecord = z
  .strictObject({
    pair: z.string().openapi({ example: 'WETH/USDC', description: 'An address stands in for a missing symbol.' }),
    chain: z.string(),
    contractVersion: z.string(),
    poolAddress: Address,
    createdBlockNumber: z.int(),
    createdTimestamp: Timestamp,
    token0: Address,
    token1: Address,
    token0Symbol: z.string().optional(),
    token1Symbol: z.string().optional(),
    token0Name: z.string().optional(),
    token1Name: z.string().optional(),
    token0Decimals: z.int().optional(),
    token1Decimals: z.int().optional(),
    token0LogoUrl: z.url().optional(),
    token1LogoUrl: z.url().optional(),
    token0BrandColor: z.string().optional(),
    token1BrandColor: z.string().optional(),
    token0FiatPrice: FiatNumber.nullable(),
    token1FiatPrice: FiatNumber.nullable(),
    priceProviderAddress: Address,
    priceProviderDetails: z.union([AnchoredDetails, RegularDetails]).optional(),
    priceProviderStatus: z.enum(['healthy', 'feed_down', 'pool_refused', 'pool_paused', 'unknown']),
    priceProviderSinceBlock: z.int(),
    priceProviderCooldownSecs: Uint64.openapi({
      description: 'Exact integer; 18446744073709551615 (2^64 - 1) means that the provider can never change.',
    }),
    lockedPricing: z.boolean(),
    priceProviderChange: ProviderChange.optional(),
    creator: Address,
    admin: Address.optional(),
    adminUsername: z.string().nullable(),
    verifiedAdmin: z.boolean(),
    adminFeeDestination: Address,
    spreadProtocolFeeE6: FeePart,
    spreadAdminFeeE6: FeePart,
    protocolNotionalFeeE8: FeePart,
    adminNotionalFeeE8: FeePart,
    aprBps7d: Uint64.optional().openapi({ description: 'LP fees of seven days per year, basis points of TVL.' }),
    pauseLevel: z.int().optional(),
    curBinIdx: z.int().optional(),
    depositWhitelistingEnabled: z.boolean(),
    depositAllowlistProvider: Address.optional(),
    extensions: z.array(Address),
    extensionDetails: ExtensionDetails.optional(),
    classificationSummary: z.strictObject({
      tierQualification: z.enum(['green', 'yellow', 'red', 'unclassified', 'black']),
      reasonCodes: z.array(z.string()),
    }),
    poolFactoryAddress: Address,
    poolDeployerAddress: Address.optional(),
    liquidityAdderAddress: Address.optional(),
    dataProviderAddress: Address.optional(),
    quoterAddress: Address.optional(),
    depositAllowlistAddress: Address.optional(),
    oracleValueStopLossAddress: Address.optional(),
    priceVelocityGuardAddress: Address.optional(),
    tvlFiat: FiatNumber.nullable().optional().openapi({ description: 'USD; only with include24h=true.' }),
    analytics24h: PoolAnalytics.optional(),
  })
  .openapi('Pool');
export type PoolRecord = z.infer<typeof PoolRecord>;

export const MetadataPage = z
  .strictObject({
    data: z.array(PoolRecord),
    total: z.int().nonnegative(),
    nextOffset: z.int().nullable(),
  })
  .openapi('MetadataPage');

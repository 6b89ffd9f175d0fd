import { z } from '@hono/zod-openapi';
import { LISTED_TIERS } from '../../protocol/classification.ts';
import { LISTED_STATUSES } from '../../protocol/quote-status.ts';
import { Executability } from './executability.ts';
import { Persistence } from './persistence.ts';
import { FiatNumber, PoolAnalytics, Uint64 } from './pool-analytics.ts';
import { Sums, Trend } from './trend.ts';

/** An address in lowercase. */
export const Address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .openapi({ example: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' });
const IntegerText = z
  .string()
  .regex(/^-?\d+$/)
  .openapi({ description: 'Decimal integer' });
/** An integer as text; null when unknown, or when the layout has no such value. */
const integerOrNull = (meaning: string) => IntegerText.nullable().describe(`${meaning}, decimal integer or null.`);
const Timestamp = z.int().nonnegative();
/** The address of a contract of the deployment. */
const deploymentAddress = (name: string) =>
  Address.optional().describe(`${name} of the deployment; omitted when not configured.`);

const AnchoredDetails = z.strictObject({
  providerType: z.literal('anchored').describe('Anchored to a reference price.'),
  oracle: Address.describe('Oracle that the provider reads.'),
  feedMode: z.enum(['single', 'synthetic']).describe('One feed, or two that are combined.'),
  source: Address.optional().openapi({ description: 'Omitted in reference mode.' }),
  marginStep: integerOrNull('Added to the spread, 1e18 = 100%; may be negative'),
  minMargin: integerOrNull('Minimum distance of bid and ask from the mid, 1e18 = 100%'),
  maxRefStaleness: integerOrNull('Maximum age of a reference price, seconds'),
  maxSpreadMult: integerOrNull('Bound of the spread as a multiple'),
  maxSpreadBps: integerOrNull('Largest spread, basis points'),
  mutableParams: z.boolean().describe('Whether the parameters can still change.'),
  confidenceParam: integerOrNull('Factor on the spread of the feed, 1e18 = 1'),
  baseMaxStaleness: integerOrNull("Maximum age of the base feed's price, seconds"),
  quoteMaxStaleness: integerOrNull("Maximum age of the quote feed's price, seconds"),
  baseSpreadMult: integerOrNull('Factor on the spread of the base feed'),
  quoteSpreadMult: integerOrNull('Factor on the spread of the quote feed'),
});

const RegularDetails = z.strictObject({
  providerType: z.literal('regular').describe('Takes the price of its oracle.'),
  oracle: Address.describe('Oracle that the provider reads.'),
  marginStep: integerOrNull('Added to the spread, 1e18 = 100%; may be negative'),
  maxTimeDelta: integerOrNull('Maximum age of a price, seconds'),
  confidenceParam: integerOrNull('Factor on the spread of the feed, 1e18 = 1'),
});

const phases = z.array(z.string()).describe('Phases of a pool operation that it runs in, such as `beforeSwap`.');
const ExtensionDetails = z.strictObject({
  stopLoss: z
    .strictObject({
      drawdownE6: integerOrNull('Largest drawdown, millionths'),
      decayPerSecondE18: integerOrNull('Decay of the mark per second, 1e18 = 100%'),
      timelockSecs: integerOrNull('Delay of a change of settings, seconds'),
      phases,
    })
    .optional()
    .describe('Stop loss; omitted when not attached.'),
  priceVelocity: z
    .strictObject({
      maxChangePerBlockE18: integerOrNull('Largest change of price per block, 1e18 = 100%'),
      phases,
    })
    .optional()
    .describe('Price velocity guard; omitted when not attached.'),
});

const ProviderChange = z.strictObject({
  newPriceProvider: Address.describe('Proposed provider.'),
  proposedAtBlock: z.int().describe('Block of the proposal.'),
  executeAfterTs: Uint64.describe('From when the change can be executed, Unix seconds; 2^64 - 1 at most.'),
});

const SwapGas = z.int().nonnegative().nullable().describe('Null when not measured within a day.');
const FeePart = z.int().nonnegative().nullable();

/**
 * A pool as the listing shows it. Capture writes this record, and the API promises it to clients. Optional fields are
 * omitted when absent; nullable fields are always there.
 */
export const PoolRecord = z
  .strictObject({
    pair: z.string().openapi({ example: 'WETH/USDC', description: 'An address replaces a missing symbol.' }),
    chain: z.string().describe('Name of the chain; casing varies by chain.'),
    contractVersion: z.string().describe('Contract release, currently `v1`.'),
    poolAddress: Address.describe('The pool.'),
    createdBlockNumber: z.int().describe('Block that created the pool.'),
    createdTimestamp: Timestamp.describe('Time of that block, Unix seconds.'),
    token0: Address.describe('First token, in pool order.'),
    token1: Address.describe('Second token, in pool order.'),
    token0Symbol: z.string().optional().describe('Omitted when the token reports none.'),
    token1Symbol: z.string().optional().describe('Omitted when the token reports none.'),
    token0Name: z.string().optional().describe('Omitted when the token reports none.'),
    token1Name: z.string().optional().describe('Omitted when the token reports none.'),
    token0Decimals: z.int().optional().describe('Omitted when the token reports none.'),
    token1Decimals: z.int().optional().describe('Omitted when the token reports none.'),
    token0LogoUrl: z.url().optional().describe('Picture of the token; omitted without one.'),
    token1LogoUrl: z.url().optional().describe('Picture of the token; omitted without one.'),
    token0BrandColor: z.string().optional().describe('Hex colour such as `#2775ca`; omitted without one.'),
    token1BrandColor: z.string().optional().describe('Hex colour such as `#2775ca`; omitted without one.'),
    token0FiatPrice: FiatNumber.nullable().describe('USD per whole token; null without a price.'),
    token1FiatPrice: FiatNumber.nullable().describe('USD per whole token; null without a price.'),
    priceProviderAddress: Address.describe('The active price provider.'),
    priceProviderDetails: z
      .union([AnchoredDetails, RegularDetails])
      .optional()
      .describe('Omitted when no known factory made the provider, or its type is unknown.'),
    priceProviderStatus: z
      .enum(LISTED_STATUSES)
      .describe('As of the last capture; only `healthy` can be quoted. `unknown` without a recent one.'),
    priceProviderSinceBlock: z.int().describe('Block since which the provider is active.'),
    priceProviderCooldownSecs: Uint64.openapi({
      description:
        'Delay of a change of the provider, seconds; 18446744073709551615 (2^64 - 1): never. Read it exactly.',
    }),
    swapGas: z
      .strictObject({ token0In: SwapGas, token1In: SwapGas })
      .describe(
        'Gas of a transaction that swaps a hundredth of a side, by the token paid, as simulated at the last read of depth: pool, guards, price provider, transfers of two ordinary tokens, and 26,000.',
      ),
    lockedPricing: z.boolean().describe('Whether the provider can never be changed.'),
    priceProviderChange: ProviderChange.optional().describe('Omitted unless a change of the provider is pending.'),
    creator: Address.describe('Account that created the pool.'),
    admin: Address.optional().describe('Current curator; omitted when unknown.'),
    adminUsername: z.string().nullable().describe("The curator's display name; null without one."),
    verifiedAdmin: z.boolean().describe('Whether the operator has verified the curator.'),
    adminFeeDestination: Address.describe('Where curator fees go.'),
    spreadProtocolFeeE6: FeePart.describe(
      "Protocol's share of the spread, millionths (1e6 = 100%); null when unknown.",
    ),
    spreadAdminFeeE6: FeePart.describe("Curator's share of the spread, millionths (1e6 = 100%); null when unknown."),
    protocolNotionalFeeE8: FeePart.describe('Protocol fee on notional, 1e8 = 100%; null when unknown.'),
    adminNotionalFeeE8: FeePart.describe('Curator fee on notional, 1e8 = 100%; null when unknown.'),
    aprBps7d: Uint64.optional().openapi({
      description:
        'LP fees of seven days over a year, basis points of TVL; omitted at zero or unknown TVL, or unknown fees.',
    }),
    pauseLevel: z.int().optional().describe('0: active; any other value blocks swaps. Omitted when unknown.'),
    curBinIdx: z
      .int()
      .optional()
      .describe('Active bin, may be negative; a position is in range with shares in it. Omitted when unknown.'),
    depositWhitelistingEnabled: z.boolean().describe('Whether deposits are restricted to an allowlist.'),
    depositAllowlistProvider: Address.optional().describe('The allowlist; only with `depositWhitelistingEnabled`.'),
    swapWhitelistingEnabled: z.boolean().describe('Whether swaps are restricted to an allowlist.'),
    extensions: z.array(Address).describe('Every attached extension, custom ones included.'),
    extensionDetails: ExtensionDetails.optional().describe(
      'Settings of the standard extensions in use; omitted without any.',
    ),
    classificationSummary: z
      .strictObject({
        tierQualification: z
          .enum(LISTED_TIERS)
          .describe('`unclassified`: not yet classified; `black`: delisted, only with `blacklistedOnly=true`.'),
        reasonCodes: z.array(z.string()).describe('Why the pool is not green; empty for green.'),
      })
      .describe('Tier of the pool, and why.'),
    poolFactoryAddress: Address.describe('Pool factory of the deployment.'),
    poolDeployerAddress: deploymentAddress('Pool deployer'),
    liquidityAdderAddress: deploymentAddress('Liquidity adder'),
    dataProviderAddress: deploymentAddress('Data provider'),
    quoterAddress: deploymentAddress('Swap quoter'),
    routerAddress: deploymentAddress('Router of the standard face (`IPropAMM`)'),
    depositAllowlistAddress: deploymentAddress('Deposit allowlist'),
    oracleValueStopLossAddress: deploymentAddress('StopLoss extension'),
    priceVelocityGuardAddress: deploymentAddress('Price velocity guard'),
    indexState: z
      .literal('differs')
      .optional()
      .describe(
        'The index of the pool is not what the chain holds: `analytics24h` is null, its figures are unknown and not in `sums`; quotes continue. Omitted while they agree.',
      ),
    tvlFiat: FiatNumber.nullable().optional().openapi({
      description: 'Current TVL, USD, as in `analytics24h`; null when unknown. Only with include24h=true.',
    }),
    executability: Executability.optional().describe(
      'How often the pool could be traded with, by samples in the hours that began in the window of `analytics24h`; only with include24h=true.',
    ),
    trend24h: Trend.optional().describe(
      'How the price moved, of funded pools, as written once a minute; only with include24h=true.',
    ),
    persistence24h: Persistence.nullable()
      .optional()
      .describe(
        'Whether quotes held one block later, as written every five minutes; null with fewer than 100 samples. Only with include24h=true.',
      ),
    analytics24h: z
      .union([PoolAnalytics, z.null()])
      .optional()
      .describe('Figures of the last 24 hours; null while `indexState` is `differs`. Only with include24h=true.'),
  })
  .openapi('Pool', { description: 'A pool. Optional fields are omitted when absent; nullable ones are always there.' });
export type PoolRecord = z.infer<typeof PoolRecord>;

export const MetadataPage = z
  .strictObject({
    data: z.array(PoolRecord).describe('The pools of the page.'),
    total: z.int().nonnegative().describe('Pools on all pages; with `addresses` those found.'),
    nextOffset: z.int().nullable().describe('`offset` of the next page; null on the last one.'),
    sums: Sums.optional(),
  })
  .openapi('MetadataPage', { description: 'A page of pools.' });

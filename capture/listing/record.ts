import { searchTerms } from '../../db/listing/search-terms.ts';
import type { StoredRecord } from '../../db/listing/show-pool.ts';
import { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import type { listedPools, poolListings } from '../../db/schema/operator.ts';
import type { Tier } from '../../protocol/classification.ts';
import { stringifyJson, toJsonInteger } from '../../runtime/json.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { computeAnalytics, sortFigures, type TokenAmounts, UNKNOWN_FIGURES } from './analytics.ts';
import { extensionFields } from './extensions.ts';
import { knownState } from './known-state.ts';
import type { PoolFacts } from './pool-facts.ts';
import { PRICE_AGE, pricedToken } from './price-age.ts';
import { providerFields } from './provider-details.ts';

/** A pool ready to be listed: sort keys and filters, and its finished JSON. */
export type ListedPool = Readonly<typeof poolListings.$inferSelect & typeof listedPools.$inferSelect>;

/** A pool's tier and the reasons for it. */
export type PoolTier = { readonly tier: Tier; readonly reasonCodes: readonly string[] };

/**
 * Makes the listed row of a pool.
 *
 * @param classification null for a pool that is not classified
 * @returns null for a pool that is not listed: no enabled deployment names its factory, or its liquidity is not known,
 *   which the API contract cannot express
 */
export function listPool(
  facts: PoolFacts,
  classification: PoolTier | null,
  registry: OperatorRegistry,
): { readonly pool: ListedPool; readonly liquidityRaw: TokenAmounts } | null {
  const { chainId, factory, tokens } = facts;
  const deployment = registry.deploymentOf(chainId, factory);
  const state = deployment ? knownState(facts, deployment) : null;
  if (!deployment || state === null) return null;
  const [token0, token1] = tokens;
  const shownTokens = [pricedToken(token0, PRICE_AGE.shown), pricedToken(token1, PRICE_AGE.shown)] as const;
  const computed = computeAnalytics(state, shownTokens);
  const shown = facts.indexDiffers ? UNKNOWN_FIGURES : computed.figures;
  const sorted = sortFigures(state, tokens);
  // A delisted pool keeps the reasons that its tier had.
  const tier = facts.delisted ? 'black' : (classification?.tier ?? 'unclassified');
  const record: StoredRecord = {
    ...headFields(facts, deployment),
    ...tokenFields(facts, registry),
    ...providerFields(facts),
    ...adminFields(facts),
    aprBps7d: shown.aprBps7d === null ? undefined : toJsonInteger(shown.aprBps7d),
    pauseLevel: facts.pauseLevel,
    curBinIdx: state.curBinIdx,
    indexState: facts.indexDiffers ? 'differs' : undefined,
    ...extensionFields(facts.extensions, deployment),
    classificationSummary: { tierQualification: tier, reasonCodes: [...(classification?.reasonCodes ?? [])] },
    ...contractFields(deployment),
  };
  const pool: ListedPool = {
    chainId,
    pool: facts.address,
    factory,
    contractVersion: deployment.contractVersion,
    createdBlockNumber: facts.createdBlockNumber,
    tier,
    tierRank: TIER_RANKS[tier],
    // The last TVL keeps a pool whose index differs in listings: its quotes come from the chain.
    ...figureColumns(facts.indexDiffers ? { ...UNKNOWN_FIGURES, tvlFiat: sorted.tvlFiat } : sorted, shown),
    lockedPricing: record.lockedPricing,
    depositAllowlist: record.depositWhitelistingEnabled,
    record: stringifyJson(record),
    analytics: stringifyJson(facts.indexDiffers ? null : computed.analytics),
    searchTerms: searchTerms(record),
    token0: token0.address,
    token1: token1.address,
  };
  return { pool, liquidityRaw: state.liquidityRaw };
}

type Deployment = NonNullable<ReturnType<OperatorRegistry['deploymentOf']>>;

function headFields({ tokens, address, createdBlockNumber, createdTimestamp }: PoolFacts, deployment: Deployment) {
  const [name0, name1] = tokens.map((token) => token.symbol ?? token.address);
  return {
    pair: `${name0}/${name1}`,
    chain: deployment.chain,
    contractVersion: deployment.contractVersion,
    poolAddress: address,
    createdBlockNumber,
    createdTimestamp,
  } satisfies Partial<StoredRecord>;
}

const adminFields = (facts: PoolFacts) =>
  ({
    creator: facts.creator,
    admin: facts.admin,
    adminUsername: facts.adminUsername,
    verifiedAdmin: facts.adminVerified,
    adminFeeDestination: facts.adminFeeDestination,
    spreadProtocolFeeE6: facts.protocolSpreadFeeE6,
    spreadAdminFeeE6: facts.adminSpreadFeeE6,
    protocolNotionalFeeE8: facts.protocolNotionalFeeE8,
    adminNotionalFeeE8: facts.adminNotionalFeeE8,
  }) satisfies Partial<StoredRecord>;

/** The contracts of a deployment. One that is not configured gives no field. */
const contractFields = (deployment: Deployment) =>
  ({
    poolFactoryAddress: deployment.poolFactory,
    poolDeployerAddress: deployment.poolDeployer,
    liquidityAdderAddress: deployment.liquidityAdder,
    dataProviderAddress: deployment.dataProvider,
    quoterAddress: deployment.quoter,
    routerAddress: deployment.router,
    depositAllowlistAddress: deployment.depositAllowlist,
    oracleValueStopLossAddress: deployment.stopLoss,
    priceVelocityGuardAddress: deployment.priceVelocityGuard,
  }) satisfies Partial<StoredRecord>;

/** What listings sort and filter by, at last prices, and what they show and sum up, at present ones. */
const figureColumns = (
  sorted: ReturnType<typeof sortFigures>,
  shown: ReturnType<typeof computeAnalytics>['figures'],
) => ({
  tvlFiat: sorted.tvlFiat,
  volumeFiat: sorted.volumeFiat,
  aprBps: numberOrNull(sorted.aprBps),
  aprBps7d: numberOrNull(sorted.aprBps7d),
  shownTvlFiat: shown.tvlFiat,
  shownVolumeFiat: shown.volumeFiat,
  lpFeesFiat: shown.lpFeesFiat,
  lpFeesFiat7d: shown.lpFeesFiat7d,
});

function tokenFields({ chainId, tokens: [token0, token1] }: PoolFacts, registry: OperatorRegistry) {
  const [config0, config1] = [registry.token(chainId, token0.address), registry.token(chainId, token1.address)];
  return {
    token0: token0.address,
    token0Symbol: token0.symbol ?? undefined,
    token0Name: token0.name ?? undefined,
    token0Decimals: token0.decimals ?? undefined,
    token0LogoUrl: config0?.logoUrl,
    token0BrandColor: config0?.brandColor,
    token1: token1.address,
    token1Symbol: token1.symbol ?? undefined,
    token1Name: token1.name ?? undefined,
    token1Decimals: token1.decimals ?? undefined,
    token1LogoUrl: config1?.logoUrl,
    token1BrandColor: config1?.brandColor,
  } satisfies Partial<StoredRecord>;
}

/** Makes a sort key, which may lose digits that the record keeps; the address decides between equal keys. */
function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

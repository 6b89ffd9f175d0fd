import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { searchTerms } from '../../db/listing/search-terms.ts';
import type { StoredRecord } from '../../db/listing/show-pool.ts';
import { TIER_RANKS } from '../../db/listing/tier-ranks.ts';
import type { listedPools, poolListings } from '../../db/schema/operator.ts';
import { stringifyJson, toJsonInteger } from '../../runtime/json.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { computeAnalytics, type TokenAmounts } from './analytics.ts';
import { extensionFields } from './extension-fields.ts';
import { knownState } from './known-state.ts';
import type { PoolFacts } from './pool-facts.ts';
import { providerFields } from './provider-details.ts';

/** A pool ready to be listed: sort keys and filters, and its finished JSON. */
export type ListedPool = Readonly<typeof poolListings.$inferSelect & typeof listedPools.$inferSelect>;

/**
 * @returns null for a pool that is not listed: no enabled deployment names its factory, or its liquidity is not known, which
 *   the contract has no word for
 */
export function listPool(
  facts: PoolFacts,
  registry: OperatorRegistry,
): { readonly pool: ListedPool; readonly liquidityRaw: TokenAmounts } | null {
  const deployment = registry.deploymentOf(facts.chainId, facts.factory);
  const chain = registry.chainName(facts.chainId);
  if (!deployment || chain === undefined) return null;
  const known = knownState(facts, deployment);
  if (known === null) return null;
  const { day, curBinIdx } = known;
  const { figures, analytics } = computeAnalytics(day, facts.tokens);
  const record: StoredRecord = {
    ...identityFields(facts, chain, deployment),
    ...tokenFields(facts, registry),
    ...providerFields(facts),
    ...curatorFields(facts),
    aprBps7d: figures.aprBps7d === null ? undefined : toJsonInteger(figures.aprBps7d),
    pauseLevel: facts.pauseLevel,
    curBinIdx,
    ...extensionFields(facts.extensions, deployment),
    classificationSummary: classificationSummary(facts),
    ...deploymentFields(deployment),
    // The last two: whoever reads the record replaces them.
    token0FiatPrice: null,
    token1FiatPrice: null,
  };
  const tier = record.classificationSummary.tierQualification;
  const pool: ListedPool = {
    chainId: facts.chainId,
    pool: facts.address,
    factory: facts.factory,
    contractVersion: deployment.contractVersion,
    createdBlockNumber: facts.createdBlockNumber,
    tier,
    tierRank: TIER_RANKS[tier],
    tvlFiat: figures.tvlFiat,
    volumeFiat: figures.volumeFiat,
    aprBps: numberOrNull(figures.aprBps),
    aprBps7d: numberOrNull(figures.aprBps7d),
    lockedPricing: record.lockedPricing,
    depositAllowlist: record.depositWhitelistingEnabled,
    record: stringifyJson(record),
    analytics: stringifyJson(analytics),
    searchTerms: searchTerms(record),
    token0: facts.tokens[0].address,
    token1: facts.tokens[1].address,
  };
  return { pool, liquidityRaw: day.liquidityRaw };
}

function identityFields(facts: PoolFacts, chain: string, deployment: DeploymentConfig) {
  const [name0, name1] = facts.tokens.map(({ symbol, address }) => symbol ?? address);
  return {
    pair: `${name0}/${name1}`,
    chain,
    contractVersion: deployment.contractVersion,
    poolAddress: facts.address,
    createdBlockNumber: facts.createdBlockNumber,
    createdTimestamp: facts.createdTimestamp,
  } satisfies Partial<StoredRecord>;
}

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

function curatorFields(facts: PoolFacts) {
  return {
    creator: facts.creator,
    admin: facts.admin,
    adminUsername: facts.adminUsername,
    verifiedAdmin: facts.adminVerified,
    adminFeeDestination: facts.adminFeeDestination,
    spreadProtocolFeeE6: facts.protocolSpreadFeeE6,
    spreadAdminFeeE6: facts.adminSpreadFeeE6,
    protocolNotionalFeeE8: facts.protocolNotionalFeeE8,
    adminNotionalFeeE8: facts.adminNotionalFeeE8,
  } satisfies Partial<StoredRecord>;
}

/** A delisted pool keeps the reasons that its tier had. */
function classificationSummary({ delisted, classification }: PoolFacts): StoredRecord['classificationSummary'] {
  return {
    tierQualification: delisted ? 'black' : (classification?.tier ?? 'unclassified'),
    reasonCodes: [...(classification?.reasonCodes ?? [])],
  };
}

/** A contract that is not configured has no field. */
function deploymentFields(deployment: DeploymentConfig) {
  return {
    poolFactoryAddress: deployment.poolFactory,
    poolDeployerAddress: deployment.poolDeployer,
    liquidityAdderAddress: deployment.liquidityAdder,
    dataProviderAddress: deployment.dataProvider,
    quoterAddress: deployment.quoter,
    depositAllowlistAddress: deployment.depositAllowlist,
    oracleValueStopLossAddress: deployment.stopLoss,
    priceVelocityGuardAddress: deployment.priceVelocityGuard,
  } satisfies Partial<StoredRecord>;
}

/** Sort keys may lose digits that the record keeps: equal keys fall back to the address. */
function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

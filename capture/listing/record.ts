import type { DeploymentConfig, TokenConfig } from '../../config/chains-schema.ts';
import { stringifyJson, toJsonInteger } from '../../runtime/json.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { computeAnalytics } from './analytics.ts';
import { extensionFields } from './extension-fields.ts';
import type { PoolFactsRow, TokenRow } from './pool-facts.ts';
import { providerFields } from './provider-details.ts';

/** A pool ready to be listed: sort keys and filters, and its finished JSON. */
export type ListedPool = {
  readonly chainId: number;
  readonly pool: string;
  readonly factory: string;
  readonly contractVersion: string;
  readonly createdBlockNumber: number;
  readonly tier: string;
  readonly tierRank: number;
  readonly tvlFiat: number | null;
  readonly volumeFiat: number | null;
  readonly aprBps: number | null;
  readonly aprBps7d: number | null;
  readonly lockedPricing: boolean;
  readonly depositAllowlist: boolean;
  /** Counts as long as the listing is refreshed. */
  readonly priceStatus: string;
  /** JSON object without its closing brace: what depends on the time of reading follows. */
  readonly record: string;
  /** JSON object without its braces: the window's bounds, which all pools share, come first. */
  readonly analytics: string;
};

/** Order of tiers, best highest. */
const TIER_RANKS: Readonly<Record<string, number>> = { green: 4, yellow: 3, red: 2, unclassified: 1, black: 0 };

/** @returns null for a pool of a factory that no enabled deployment names: it is not listed */
export function listPool(facts: PoolFactsRow, registry: OperatorRegistry): ListedPool | null {
  const deployment = registry.deploymentOf(facts.chainId, facts.factory);
  const chain = registry.chainName(facts.chainId);
  if (!deployment || chain === undefined) return null;
  const { figures, analytics } = computeAnalytics(facts.day, facts.tokens);
  const record = {
    ...identityFields(facts, chain, deployment),
    ...tokenFields(facts, registry),
    ...providerFields(facts),
    ...curatorFields(facts),
    ...(figures.aprBps7d !== null && { aprBps7d: toJsonInteger(figures.aprBps7d) }),
    pauseLevel: facts.pauseLevel,
    curBinIdx: facts.curBinIdx,
    ...extensionFields(facts.extensions, deployment),
    classificationSummary: classificationSummary(facts),
    ...deploymentFields(deployment),
  };
  const tier = record.classificationSummary.tierQualification;
  return {
    chainId: facts.chainId,
    pool: facts.address,
    factory: facts.factory,
    contractVersion: deployment.contractVersion,
    createdBlockNumber: facts.createdBlockNumber,
    tier,
    tierRank: TIER_RANKS[tier] ?? 0,
    tvlFiat: figures.tvlFiat,
    volumeFiat: figures.volumeFiat,
    aprBps: numberOrNull(figures.aprBps),
    aprBps7d: numberOrNull(figures.aprBps7d),
    lockedPricing: record.lockedPricing,
    depositAllowlist: record.depositWhitelistingEnabled,
    priceStatus: facts.priceStatus,
    record: stringifyJson(record).slice(0, -1),
    analytics: stringifyJson(analytics).slice(1, -1),
  };
}

function identityFields(facts: PoolFactsRow, chain: string, deployment: DeploymentConfig) {
  const [name0, name1] = facts.tokens.map(({ symbol, address }) => symbol ?? address);
  return {
    pair: `${name0}/${name1}`,
    chain,
    contractVersion: deployment.contractVersion,
    poolAddress: facts.address,
    createdBlockNumber: facts.createdBlockNumber,
    createdTimestamp: facts.createdTimestamp,
  };
}

function tokenFields({ chainId, tokens: [token0, token1] }: PoolFactsRow, registry: OperatorRegistry) {
  return {
    ...oneTokensFields('token0', token0, registry.token(chainId, token0.address)),
    ...oneTokensFields('token1', token1, registry.token(chainId, token1.address)),
  };
}

function oneTokensFields(prefix: 'token0' | 'token1', token: TokenRow, config: TokenConfig | undefined) {
  return {
    [prefix]: token.address,
    ...(token.symbol !== null && { [`${prefix}Symbol`]: token.symbol }),
    ...(token.name !== null && { [`${prefix}Name`]: token.name }),
    ...(token.decimals !== null && { [`${prefix}Decimals`]: token.decimals }),
    ...(config?.logoUrl !== undefined && { [`${prefix}LogoUrl`]: config.logoUrl }),
    ...(config?.brandColor !== undefined && { [`${prefix}BrandColor`]: config.brandColor }),
    [`${prefix}FiatPrice`]: token.usd,
  };
}

function curatorFields(facts: PoolFactsRow) {
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
  };
}

/** A delisted pool keeps the reasons that its tier had. */
function classificationSummary({ delisted, classification }: PoolFactsRow) {
  return {
    tierQualification: delisted ? 'black' : (classification?.tier ?? 'unclassified'),
    reasonCodes: classification?.reasonCodes ?? [],
  };
}

const DEPLOYMENT_FIELDS = {
  poolFactoryAddress: 'poolFactory',
  poolDeployerAddress: 'poolDeployer',
  liquidityAdderAddress: 'liquidityAdder',
  dataProviderAddress: 'dataProvider',
  quoterAddress: 'quoter',
  depositAllowlistAddress: 'depositAllowlist',
  oracleValueStopLossAddress: 'stopLoss',
  priceVelocityGuardAddress: 'priceVelocityGuard',
} as const satisfies Record<string, keyof DeploymentConfig>;

/** A contract that is not configured has no field. */
function deploymentFields(deployment: DeploymentConfig) {
  const fields = Object.entries(DEPLOYMENT_FIELDS).map(([field, key]) => [field, deployment[key]] as const);
  return Object.fromEntries(fields.filter(([, address]) => address !== undefined));
}

/** Sort keys may lose digits that the record keeps: equal keys fall back to the address. */
function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

import { and, eq, max, sql } from 'drizzle-orm';
import { QueryBuilder } from 'drizzle-orm/pg-core';
import type { Address } from 'viem';
import { queriesOn } from '../../db/query-builder.ts';
import { curators } from '../../db/schema/operator.ts';
import { poolBins, pools, priceProviders } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import {
  isAnchoredFeedMatched,
  type PoolFacts,
  type StopLossFacts,
  type TokenFacts,
} from '../../protocol/classification.ts';
import { type ExtensionRow, extensionsOfPool, toExtensions } from '../pools/extension-rows.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { type PoolId, poolRows } from '../pools/pool-id.ts';
import { PROVIDER_COLUMNS, type ProviderRow, toProvider } from '../pools/provider-rows.ts';

/** A pool's key with all that its tier depends on. */
export type PoolWithFacts = PoolId & { readonly facts: PoolFacts };

/** Width of the widest bin of a row of `pools`; null when the pool has no state. */
const widestBinE6 = sql<number | null>`${new QueryBuilder()
  .select({ widest: max(poolBins.lengthE6) })
  .from(poolBins)
  .where(and(eq(poolBins.chainId, pools.chainId), eq(poolBins.pool, pools.address)))}`;

function selectFacts(database: Queryable, wanted: readonly PoolId[]) {
  return queriesOn(database)
    .select({
      chainId: pools.chainId,
      address: pools.address,
      factory: pools.factory,
      token0: pools.token0,
      token1: pools.token1,
      creator: pools.creator,
      admin: pools.admin,
      verified: curators.verified,
      priceProviderTimelockSecs: pools.priceProviderTimelockSecs,
      widestBinE6,
      extensions: extensionsOfPool,
      provider: PROVIDER_COLUMNS,
    })
    .from(pools)
    .leftJoin(
      priceProviders,
      and(eq(priceProviders.chainId, pools.chainId), eq(priceProviders.address, pools.priceProvider)),
    )
    .leftJoin(curators, and(eq(curators.chainId, pools.chainId), eq(curators.address, pools.admin)))
    .where(sql`(${pools.chainId}, ${pools.address}) IN (SELECT * FROM ${poolRows(wanted)})`);
}

type FactsColumns = Awaited<ReturnType<typeof selectFacts>>[number];

/** Reads the facts of those of these pools that belong to enabled deployments. */
export async function readClassificationFacts(
  database: Queryable,
  registry: OperatorRegistry,
  wanted: readonly PoolId[],
): Promise<readonly PoolWithFacts[]> {
  const rows = await selectFacts(database, wanted);
  return rows.flatMap((row) => toFacts(row, registry));
}

function toFacts(row: FactsColumns, registry: OperatorRegistry): PoolWithFacts[] {
  const { chainId } = row;
  const deployment = registry.deploymentOf(chainId, row.factory);
  if (!deployment || row.widestBinE6 === null) return [];
  const extensions = toExtensions(row.extensions);
  const facts: PoolFacts = {
    widestBinE6: row.widestBinE6,
    stopLoss: stopLossFacts(extensions.find(({ address }) => address === deployment.stopLoss)),
    provider: providerFacts(toProvider(row.provider), chainId, registry),
    priceProviderTimelock: row.priceProviderTimelockSecs,
    admin: row.admin,
    creator: row.creator,
    adminVerified: row.verified ?? false,
    extensions,
    token0: tokenFacts(chainId, row.token0, registry),
    token1: tokenFacts(chainId, row.token1, registry),
  };
  return [{ chainId, pool: row.address, facts }];
}

/** Whether a pool's anchored feeds are known to price its tokens. */
export function isConfirmed(
  { chainId, token0, token1, provider }: Pick<FactsColumns, 'chainId' | 'token0' | 'token1' | 'provider'>,
  registry: OperatorRegistry,
): boolean {
  return isAnchoredFeedMatched({
    provider: providerFacts(toProvider(provider), chainId, registry),
    token0: tokenFacts(chainId, token0, registry),
    token1: tokenFacts(chainId, token1, registry),
  });
}

/** The extension counts as initialised once any of its settings was announced. */
function stopLossFacts(extension: ExtensionRow | undefined): StopLossFacts | null {
  if (!extension) return null;
  const { phases, drawdownE6, decayPerSecondE18, timelockSecs } = extension;
  return {
    phases,
    initialized: drawdownE6 !== null,
    drawdownE6: drawdownE6 ?? 0n,
    decayPerSecondE18: decayPerSecondE18 ?? 0n,
    timelockSecs: timelockSecs ?? 0n,
  };
}

function providerFacts(
  provider: ProviderRow | null,
  chainId: number,
  registry: OperatorRegistry,
): PoolFacts['provider'] {
  if (!provider) return { kind: 'unknown' };
  const { oracle, base, quote, baseFeedId, quoteFeedId } = provider;
  const usesMultiplierOracle = registry.isMultiplierOracle(chainId, oracle);
  const feeds = { oracle, base, quote, baseFeedId, quoteFeedId, usesMultiplierOracle };
  if (provider.kind !== 'anchored') return { kind: 'regular', ...feeds };
  return {
    kind: 'anchored',
    ...feeds,
    mutableParams: provider.mutableParams ?? false,
    maxRefStalenessSecs: provider.maxRefStalenessSecs ?? 0n,
  };
}

function tokenFacts(chainId: number, address: Address, registry: OperatorRegistry): TokenFacts {
  const config = registry.token(chainId, address);
  return {
    address,
    feedIds: config?.feedIds ?? [],
    usdPegged: config?.usdPegged ?? false,
    multiplierOracle: config?.multiplierOracle ?? null,
  };
}

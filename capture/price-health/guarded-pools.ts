import { eq } from 'drizzle-orm';
import type { Address } from 'viem';
import type { ChainConfig, DeploymentConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { poolExtensions } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { SWAP_PHASES } from '../../protocol/pool-events.ts';
import type { KnownPool } from '../read-schedule/pool-values.ts';

/** A pool whose guards may reject swaps; `isKnown` when all of its guards are those of its deployment. */
export type GuardedPool = KnownPool & { readonly isKnown: boolean };

/**
 * Selects the pools whose swaps run extensions. Pools with a swap allowlist are left out, as for quotes: the allowlist
 * decides by caller, so its answer to us says nothing about a trader.
 */
export async function readGuardedPools(
  database: Queryable,
  { chainId, deployments }: ChainConfig,
  pools: readonly KnownPool[],
): Promise<GuardedPool[]> {
  const { pool, address, phases } = poolExtensions;
  const rows = await queriesOn(database)
    .select({ pool, address, phases })
    .from(poolExtensions)
    .where(eq(poolExtensions.chainId, chainId));
  const ofSwaps = rows.filter((row) => row.phases.some((phase) => SWAP_PHASES.includes(phase)));
  const guards = Map.groupBy(ofSwaps, (row) => row.pool);
  const byFactory = new Map(deployments.map((deployment) => [deployment.poolFactory as string, deployment]));
  return pools.flatMap((known) => {
    const own = guards.get(known.address)?.map((guard) => guard.address) ?? [];
    const deployment = byFactory.get(known.factory);
    if (own.length === 0 || !deployment || own.some((guard) => guard === deployment.swapAllowlist)) return [];
    return [{ ...known, isKnown: own.every((guard) => isKnownGuard(guard, deployment)) }];
  });
}

const isKnownGuard = (guard: Address, { stopLoss, priceVelocityGuard }: DeploymentConfig): boolean =>
  guard === stopLoss || guard === priceVelocityGuard;

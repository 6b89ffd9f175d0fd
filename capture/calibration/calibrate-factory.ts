import { and, asc, eq } from 'drizzle-orm';
import type { ChainTarget } from '../../chain/contract-calls.ts';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { CalibrationPool, Finding } from '../../protocol/calibration.ts';
import { storedLayout } from '../../protocol/layouts/stored-layouts.ts';
import { calibrationChain } from './calibration-chain.ts';

/** Swaps that one try looks at. */
export const SWAPS_PER_TRY = 20;

/**
 * Asks the chain what is not publicly known of a factory's pools, as far as its layout has such.
 *
 * @param swaps recent swaps to look at, at most
 * @throws errors of the nodes and the database
 */
export async function calibrateFactory(
  database: Queryable,
  target: ChainTarget,
  { layout, poolFactory, dataProvider }: DeploymentConfig,
  swaps = SWAPS_PER_TRY,
): Promise<readonly Finding[]> {
  const stored = storedLayout(layout);
  if (stored === undefined) return [];
  const rows = await queriesOn(database)
    .select({
      address: pools.address,
      lowestBin: pools.lowestBin,
      highestBin: pools.highestBin,
      multiplier0: pools.token0ScaleMultiplier,
      multiplier1: pools.token1ScaleMultiplier,
    })
    .from(pools)
    .where(and(eq(pools.chainId, target.chainId), eq(pools.factory, poolFactory)))
    .orderBy(asc(pools.poolIdx));
  const known = rows.map(
    ({ multiplier0, multiplier1, ...pool }): CalibrationPool => ({ ...pool, scale: { multiplier0, multiplier1 } }),
  );
  return stored.calibrate(calibrationChain(target), { pools: known, lens: dataProvider, swaps });
}

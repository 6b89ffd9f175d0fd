import type { ChainTarget } from '../../chain/contract-calls.ts';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Finding } from '../../protocol/calibration.ts';
import { storedLayout } from '../../protocol/layouts/stored-layouts.ts';
import { calibrationChain } from './calibration-chain.ts';
import { poolsToCalibrate } from './calibration-pools.ts';

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
  const pools = await poolsToCalibrate(database, { chainId: target.chainId, factory: poolFactory });
  return stored.calibrate(calibrationChain(target), { pools, lens: dataProvider, swaps });
}

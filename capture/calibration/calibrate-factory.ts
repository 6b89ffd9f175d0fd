import type { ChainTarget } from '../../chain/contract-calls.ts';
import type { CaptureConfig } from '../../config/capture-schema.ts';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Finding } from '../../protocol/calibration.ts';
import { storedLayout } from '../../protocol/layouts/stored-layouts.ts';
import { calibrationChain } from './calibration-chain.ts';
import { type CalibrationReach, poolsToCalibrate } from './calibration-pools.ts';

/**
 * Asks the chain what is not publicly known of a factory's pools, as far as its layout has such.
 *
 * @param reach how many recent swaps and pools it looks at, at most
 * @throws errors of the nodes and the database
 */
export async function calibrateFactory(
  database: Queryable,
  target: ChainTarget,
  { layout, poolFactory, dataProvider }: DeploymentConfig,
  reach: CalibrationReach & Pick<CaptureConfig, 'calibrationSwaps'>,
): Promise<readonly Finding[]> {
  const stored = storedLayout(layout);
  if (stored === undefined) return [];
  const pools = await poolsToCalibrate(database, { chainId: target.chainId, factory: poolFactory }, reach);
  return stored.calibrate(calibrationChain(target), { pools, lens: dataProvider, swaps: reach.calibrationSwaps });
}

import type { ChainTarget } from '../../chain/contract-calls.ts';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Finding } from '../../protocol/calibration.ts';
import { calibrateMark, STOP_LOSS_MARK } from '../../protocol/guards/calibrate-mark.ts';
import { layoutAdapter, storedLayout } from '../../protocol/layouts/adapters.ts';
import { eventLayout } from '../../protocol/layouts/event-layouts.ts';
import { calibrationChain } from './calibration-chain.ts';
import { poolsToCalibrate, poolsWithStopLoss } from './calibration-pools.ts';

/** Swaps that a try looks at: more than decide, and few calls. */
const SWAPS = 20;

/** What is asked of the chain about a deployment: names of findings, in the order in which they are shown. */
export const findingsOf = ({ layout, stopLoss }: DeploymentConfig): readonly string[] => [
  ...(storedLayout(layout)?.calibrated ?? []),
  ...(stopLoss ? [STOP_LOSS_MARK] : []),
];

/**
 * Asks the chain what is not publicly known of a factory's pools, as far as its layout has such, and how its stop loss
 * values bins.
 *
 * @param swaps that it looks at, at most
 * @throws errors of the nodes and the database
 */
export async function calibrateFactory(
  database: Queryable,
  target: ChainTarget,
  { layout, poolFactory, dataProvider, stopLoss }: DeploymentConfig,
  swaps = SWAPS,
): Promise<readonly Finding[]> {
  const key = { chainId: target.chainId, factory: poolFactory };
  const chain = calibrationChain(target);
  const stored = storedLayout(layout);
  const findings: Finding[] = [];
  if (stored) {
    const pools = await poolsToCalibrate(database, key);
    findings.push(...(await stored.calibrate(chain, { pools, lens: dataProvider, swaps })));
  }
  if (stopLoss) {
    const pools = await poolsWithStopLoss(database, key, stopLoss);
    const task = { stopLoss, pools, swaps };
    findings.push(await calibrateMark(chain, layoutAdapter(layout), eventLayout(layout), task));
  }
  return findings;
}

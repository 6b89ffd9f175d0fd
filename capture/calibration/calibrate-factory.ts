import { boundedCallsOnce, type ChainTarget } from '../../chain/isolated-calls.ts';
import { isRefusal } from '../../chain/rpc-failure.ts';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { CalibrationChain, Finding } from '../../protocol/calibration.ts';
import { calibrateMark } from '../../protocol/guards/calibrate-mark.ts';
import { STOP_LOSS_MARK } from '../../protocol/guards/observed-marks.ts';
import { layoutAdapter, storedLayout } from '../../protocol/layouts/adapters.ts';
import { eventLayout } from '../../protocol/layouts/event-layouts.ts';
import { fundedPools, poolsWithStopLoss, tradedPools } from './calibration-pools.ts';

/** Most swaps that one attempt looks at: more than it takes to decide, yet few calls. */
const SWAPS = 20;

/** Names of the findings that a calibration of a deployment gives, in the order in which they are shown. */
export const findingsOf = ({ layout, stopLoss }: DeploymentConfig): readonly string[] => [
  ...(storedLayout(layout)?.calibrated ?? []),
  ...(stopLoss ? [STOP_LOSS_MARK] : []),
];

/**
 * Finds out from the chain what is not publicly known about a factory: how its pools work, where their layout leaves
 * this open, and how its stop loss values bins.
 *
 * @param swaps most swaps that it looks at
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
    const pools = await tradedPools(database, key);
    findings.push(...(await stored.calibrate(chain, { pools, lens: dataProvider, swaps })));
  }
  if (stopLoss) {
    const pools = await poolsWithStopLoss(database, key, stopLoss);
    const task = { stopLoss, pools, swaps };
    findings.push(await calibrateMark(chain, layoutAdapter(layout), eventLayout(layout), task));
  }
  return findings;
}

/**
 * Finds out whether the storage of a factory's pools is read rightly. One funded pool is enough: it takes no swaps.
 *
 * @returns null without a funded pool, or where none was read
 * @throws errors of the nodes and the database
 */
export async function calibrateStorage(
  database: Queryable,
  target: ChainTarget,
  { layout, poolFactory, dataProvider }: DeploymentConfig,
): Promise<Finding | null> {
  const stored = storedLayout(layout);
  const pools = stored ? await fundedPools(database, { chainId: target.chainId, factory: poolFactory }) : [];
  if (!stored || pools.length === 0) return null;
  const finding = await stored.checkStorage(calibrationChain(target), pools, dataProvider);
  return finding.decided === null ? null : finding;
}

/** Adapts the nodes of a chain for a calibration. A refused `call` gives null; other failures throw an `RpcFailure`. */
export function calibrationChain(target: ChainTarget): CalibrationChain {
  const { rpc } = target;
  return {
    head: async () => (await rpc.head()).block,
    blockAt: (number) => rpc.blockAt(number),
    logs: (addresses, fromBlock, toBlock) => rpc.logs(addresses, fromBlock, toBlock),
    call: async (block, to, data, code) => {
      try {
        const overrides = code === undefined ? undefined : new Map([[to, code]]);
        return await rpc.call({ to, data, block, code: overrides }, (answer) => answer);
      } catch (error) {
        if (isRefusal(error)) return null;
        throw error;
      }
    },
    attempts: async (block, calls) => (await boundedCallsOnce(target, { block }, calls)).results,
  };
}

import { boundedCallsOnce, type ChainTarget } from '../../chain/contract-calls.ts';
import { isRefusal } from '../../chain/rpc-failure.ts';
import type { DeploymentConfig } from '../../config/chains-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import { CALL_GAS_CAP } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { CalibrationChain, Finding } from '../../protocol/calibration.ts';
import { calibrateMark } from '../../protocol/guards/calibrate-mark.ts';
import { STOP_LOSS_MARK } from '../../protocol/guards/observed-marks.ts';
import { layoutAdapter, storedLayout } from '../../protocol/layouts/adapters.ts';
import { eventLayout } from '../../protocol/layouts/event-layouts.ts';
import { poolsWithStopLoss, tradedPools } from './calibration-pools.ts';

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

/** The nodes of a chain, as a calibration asks them. A failure that is no answer is an `RpcFailure`. */
export function calibrationChain(target: ChainTarget): CalibrationChain {
  const { rpc } = target;
  return {
    head: async () => (await rpc.head()).block,
    blockAt: (number) => rpc.blockAt(number),
    logs: (addresses, fromBlock, toBlock) => rpc.logs(addresses, fromBlock, toBlock),
    call: async (block, to, data, code) => {
      try {
        const overrides = code === undefined ? {} : { overrides: new Map([[to, code]]) };
        return await rpc.call({ to, data, gas: CALL_GAS_CAP, block, ...overrides }, (answer) => answer);
      } catch (error) {
        if (isRefusal(error)) return null;
        throw error;
      }
    },
    attempts: async (block, calls) => (await boundedCallsOnce(target, block, calls)).results,
  };
}

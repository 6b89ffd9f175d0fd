import type { ChainTarget } from '../../chain/contract-calls.ts';
import { boundedCallsOnce } from '../../chain/contract-calls.ts';
import { isRefusal } from '../../chain/rpc-failure.ts';
import { CALL_GAS_CAP } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { CalibrationChain } from '../../protocol/calibration.ts';

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

import { numberToHex } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { isRefusal } from '../../chain/rpc-failure.ts';
import { signedCall } from '../../chain/signed-call.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type Hex, isCancel, type Submission } from '../submit/quote-update.ts';

/**
 * What an update would do on top of the head block. `unavailable`: the node gave no result, which says nothing about
 * the update. `late`: it was not simulated, since too many others were running.
 */
export type SimulationResult = {
  readonly outcome: 'success' | 'late' | 'reverted' | 'unavailable';
  readonly reason?: string;
};

/** Balance given to the sender, enough for any gas: the simulation must not depend on the sender's real balance. */
const AMPLE_BALANCE = numberToHex(10n ** 24n);
/** Most concurrent simulations, so that they do not pile up at a slow node. */
const MAX_RUNNING = 16;

/**
 * Makes a function that simulates a live update of one chain in the background and never throws. Each result is logged
 * and passed to `count`.
 */
export function createSimulator(
  rpc: ChainRpc,
  count: (outcome: SimulationResult['outcome']) => void,
  logger: Logger,
): (submission: Submission) => void {
  let running = 0;
  return async ({ id, update }) => {
    if (isCancel(update)) return;
    running += 1;
    const result: SimulationResult = running > MAX_RUNNING ? { outcome: 'late' } : await simulate(rpc, update.tx);
    running -= 1;
    count(result.outcome);
    logger.info({ submission: id, ...result }, 'update simulated');
  };
}

/**
 * Simulates a signed transaction by `eth_call` with a state override, which every node supports. The sender is
 * recovered from the signature, which a simulation does not check. It never rejects: an unreachable node is an outcome.
 */
export async function simulate(rpc: ChainRpc, tx: Hex): Promise<SimulationResult> {
  try {
    const { from, to, data, value, gas } = await signedCall(tx);
    const call = { from, to, data, value: numberToHex(value), gas: numberToHex(gas) };
    await rpc.request('eth_call', [call, 'latest', { [from]: { balance: AMPLE_BALANCE } }], () => undefined);
    return { outcome: 'success' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { outcome: isRefusal(error) ? 'reverted' : 'unavailable', reason };
  }
}

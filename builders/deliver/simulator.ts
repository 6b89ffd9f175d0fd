import { numberToHex, parseTransaction, recoverTransactionAddress } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { isRefusal } from '../../chain/rpc-failure.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type Hex, isCancel, type Submission } from '../submit/quote-update.ts';

/**
 * How an update would fare on top of the head block. `unavailable` says nothing about the update, and `late` that too many
 * others were being simulated.
 */
export type SimulationResult = {
  readonly outcome: 'success' | 'late' | 'reverted' | 'unavailable';
  readonly reason?: string;
};

/** Enough for any gas: the simulation is about the effect of the update, not about the sender's balance. */
const AMPLE_BALANCE = numberToHex(10n ** 24n);
/** Simulations at a time: a slow node collects no more. */
const MAX_RUNNING = 16;

/**
 * Simulates the live updates of one chain in the background: the function that it returns takes one, and never throws. Each
 * result is logged and handed to `count`.
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
 * Simulates a signed transaction by `eth_call` with a state override, which every node has. Its sender is recovered, since
 * a simulation checks no signature. Never rejects: an unreachable node is an outcome.
 */
export async function simulate(rpc: ChainRpc, tx: Hex): Promise<SimulationResult> {
  try {
    const { to, data, value = 0n, gas = 0n } = parseTransaction(tx);
    const from = await recoverTransactionAddress({ serializedTransaction: tx as `0x02${string}` });
    const call = { from, to, data, value: numberToHex(value), gas: numberToHex(gas) };
    await rpc.request('eth_call', [call, 'latest', { [from]: { balance: AMPLE_BALANCE } }], () => undefined);
    return { outcome: 'success' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { outcome: isRefusal(error) ? 'reverted' : 'unavailable', reason };
  }
}

import { numberToHex, parseTransaction, recoverTransactionAddress } from 'viem';
import type { ChainRpc } from '../../../chain/chain-rpc.ts';
import { isRefusal } from '../../../chain/rpc-failure.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { BuildersMetrics } from '../../submit/metrics.ts';
import { type Hex, isCancel, type Submission } from '../../submit/quote-update.ts';

/**
 * How an update would fare on top of the head block. `unavailable` says nothing about the update, and `late` that too many
 * others were being simulated.
 */
export type SimulationResult =
  | { readonly outcome: 'success' | 'late' }
  | { readonly outcome: 'reverted' | 'unavailable'; readonly reason: string };

/** Enough for any gas: the simulation is about the effect of the update, not about the sender's balance. */
const AMPLE_BALANCE = numberToHex(10n ** 24n);
/** Simulations at a time: a slow node collects no more. */
const MAX_RUNNING = 16;

type Call = { from: Hex; to?: Hex; data?: Hex; value: Hex; gas: Hex };

/** Simulates the live updates of one chain by `eth_call` with a state override, which every node has. */
export class Simulator {
  readonly #rpc: ChainRpc;
  readonly #metrics: BuildersMetrics;
  readonly #logger: Logger;
  #running = 0;

  constructor(rpc: ChainRpc, metrics: BuildersMetrics, logger: Logger) {
    this.#rpc = rpc;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Simulates an update; the result is logged and counted. Never rejects, and nothing needs to wait for it. */
  async run({ id, update }: Submission): Promise<void> {
    if (isCancel(update)) return;
    this.#running += 1;
    const isLate = this.#running > MAX_RUNNING;
    const result: SimulationResult = isLate ? { outcome: 'late' } : await this.simulate(update.tx);
    this.#running -= 1;
    this.#metrics.simulations.inc({ chain: String(update.chainId), outcome: result.outcome });
    this.#logger.info({ submission: id, ...result }, 'update simulated');
  }

  /** Simulates a signed transaction. Never rejects: an unreachable node is an outcome. */
  async simulate(tx: Hex): Promise<SimulationResult> {
    try {
      const call = await toCall(tx);
      const overrides = { [call.from]: { balance: AMPLE_BALANCE } };
      await this.#rpc.request('eth_call', [call, 'latest', overrides], () => undefined);
      return { outcome: 'success' };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { outcome: isRefusal(error) ? 'reverted' : 'unavailable', reason };
    }
  }
}

/** The call that a signed transaction makes. Its sender is recovered, since a simulation checks no signature. */
async function toCall(tx: Hex): Promise<Call> {
  const { to, data, value, gas } = parseTransaction(tx);
  const from = (await recoverTransactionAddress({ serializedTransaction: tx as `0x02${string}` })).toLowerCase() as Hex;
  return {
    from,
    value: numberToHex(value ?? 0n),
    gas: numberToHex(gas ?? 0n),
    ...(to ? { to } : {}),
    ...(data ? { data } : {}),
  };
}

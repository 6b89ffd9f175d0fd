import { numberToHex, parseTransaction, recoverTransactionAddress } from 'viem';
import { z } from 'zod';
import type { ChainRpc } from '../../../chain/chain-rpc.ts';
import { isRefusal } from '../../../chain/rpc-failure.ts';
import type { Hex } from '../../submit/quote-update.ts';

/** How an update would fare at the head block. `unavailable` says nothing about the update. */
export type SimulationResult =
  | { readonly outcome: 'success'; readonly gasUsed?: bigint }
  | { readonly outcome: 'reverted'; readonly reason: string }
  | { readonly outcome: 'unavailable'; readonly reason: string };

export type SimulationMethod = 'eth_simulateV1' | 'eth_call';

/** Enough for any gas: the simulation is about the effect of the update, not about the sender's balance. */
const AMPLE_BALANCE = numberToHex(10n ** 24n);

type Call = { from: Hex; to?: Hex; data?: Hex; value: Hex; gas: Hex };

const Simulated = z.object({
  calls: z.tuple([
    z.object({
      status: z.string(),
      gasUsed: z.string().transform(BigInt),
      error: z.object({ message: z.string().optional() }).optional(),
    }),
  ]),
});

/** Applies updates to a simulated head block of one chain. */
export class Simulator {
  readonly #rpc: ChainRpc;
  #method: SimulationMethod | undefined;

  constructor(rpc: ChainRpc) {
    this.#rpc = rpc;
  }

  /**
   * Finds out which method the node has, once.
   *
   * @throws Error when the node cannot be asked
   */
  async probe(): Promise<SimulationMethod> {
    this.#method ??= await this.#probeMethod();
    return this.#method;
  }

  /** Simulates a signed transaction. Never throws: an unreachable node is an outcome. */
  async simulate(tx: Hex): Promise<SimulationResult> {
    try {
      const call = await toCall(tx);
      return (await this.probe()) === 'eth_simulateV1' ? await this.#simulateBlock(call) : await this.#call(call);
    } catch (error) {
      return { outcome: 'unavailable', reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async #probeMethod(): Promise<SimulationMethod> {
    const payload = { blockStateCalls: [{ calls: [] }] };
    try {
      await this.#rpc.request('eth_simulateV1', [payload, 'latest'], () => undefined);
      return 'eth_simulateV1';
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return 'eth_call';
    }
  }

  async #simulateBlock(call: Call): Promise<SimulationResult> {
    const stateOverrides = { [call.from]: { balance: AMPLE_BALANCE } };
    const payload = { blockStateCalls: [{ stateOverrides, calls: [call] }], validation: false };
    const read = (result: unknown) => z.tuple([Simulated]).parse(result)[0].calls[0];
    const { status, gasUsed, error } = await this.#rpc.request('eth_simulateV1', [payload, 'latest'], read);
    if (BigInt(status) === 1n) return { outcome: 'success', gasUsed };
    return { outcome: 'reverted', reason: error?.message ?? 'execution reverted' };
  }

  async #call(call: Call): Promise<SimulationResult> {
    const overrides = { [call.from]: { balance: AMPLE_BALANCE } };
    try {
      await this.#rpc.request('eth_call', [call, 'latest', overrides], () => undefined);
      return { outcome: 'success' };
    } catch (error) {
      if (isRefusal(error)) return { outcome: 'reverted', reason: error.message };
      throw error;
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

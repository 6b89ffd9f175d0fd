import { numberToHex, type PublicClient, parseTransaction, recoverTransactionAddress } from 'viem';
import type { Hex } from '../../submit/quote-update.ts';

/** How an update would fare at the head block. `unavailable` says nothing about the update. */
export type SimulationResult =
  | { readonly outcome: 'success'; readonly gasUsed?: bigint }
  | { readonly outcome: 'reverted'; readonly reason: string }
  | { readonly outcome: 'unavailable'; readonly reason: string };

export type SimulationMethod = 'eth_simulateV1' | 'eth_call';

const METHOD_NOT_FOUND = -32601;
/** Enough for any gas: the simulation is about the effect of the update, not about the sender's balance. */
const AMPLE_BALANCE = numberToHex(10n ** 24n);

type Call = { from: Hex; to?: Hex; data?: Hex; value: Hex; gas: Hex };
type RpcRequest = (method: string, params: unknown[]) => Promise<unknown>;

/** Applies updates to a simulated head block of one chain. */
export class Simulator {
  readonly #request: RpcRequest;
  #method: SimulationMethod | undefined;

  constructor(client: PublicClient) {
    this.#request = (method, params) =>
      // The client's types know neither method with raw parameters.
      client.request({ method, params } as unknown as Parameters<typeof client.request>[0]);
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
      return { outcome: 'unavailable', reason: describe(error) };
    }
  }

  async #probeMethod(): Promise<SimulationMethod> {
    try {
      await this.#request('eth_simulateV1', [{ blockStateCalls: [{ calls: [] }] }, 'latest']);
      return 'eth_simulateV1';
    } catch (error) {
      if (!isRpcAnswer(error)) throw error;
      return 'eth_call';
    }
  }

  async #simulateBlock(call: Call): Promise<SimulationResult> {
    const stateOverrides = { [call.from]: { balance: AMPLE_BALANCE } };
    const payload = { blockStateCalls: [{ stateOverrides, calls: [call] }], validation: false };
    const blocks = (await this.#request('eth_simulateV1', [payload, 'latest'])) as SimulatedBlock[];
    const result = blocks[0]?.calls[0];
    if (!result) return { outcome: 'unavailable', reason: 'the node returned no result' };
    if (BigInt(result.status) === 1n) return { outcome: 'success', gasUsed: BigInt(result.gasUsed) };
    return { outcome: 'reverted', reason: result.error?.message ?? 'execution reverted' };
  }

  async #call(call: Call): Promise<SimulationResult> {
    try {
      await this.#request('eth_call', [call, 'latest', { [call.from]: { balance: AMPLE_BALANCE } }]);
      return { outcome: 'success' };
    } catch (error) {
      if (isRpcAnswer(error)) return { outcome: 'reverted', reason: describe(error) };
      throw error;
    }
  }
}

type SimulatedBlock = { calls: { status: Hex; gasUsed: Hex; error?: { message?: string } }[] };

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

/** Whether the node itself answered with an error, as opposed to not being reached. */
function isRpcAnswer(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    if ('code' in e && typeof e.code === 'number')
      return e.code <= -32000 || e.code === METHOD_NOT_FOUND || e.code === 3;
  }
  return false;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ('shortMessage' in error ? String(error.shortMessage) : error.message).split('\n', 1)[0] ?? error.name;
}

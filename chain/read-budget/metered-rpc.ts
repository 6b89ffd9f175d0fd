import { setTimeout as sleep } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import { type BlockRef, type ChainLog, ChainRpc, type EthCall, type ReportedHead } from '../chain-rpc.ts';
import type { ReadBudget, ReadClass } from './read-budget.ts';

/** What a call without an estimate is taken to use, at most. */
const UNTOLD_GAS = 5_000_000;
const POLL_MS = 100;

/** The nodes of a chain for work of which each request waits until the budget pays for it. */
export class MeteredRpc extends ChainRpc {
  readonly #budget: ReadBudget;
  readonly #kind: ReadClass;

  constructor({ endpoints }: ChainRpc, budget: ReadBudget, kind: ReadClass) {
    super(endpoints);
    this.#budget = budget;
    this.#kind = kind;
  }

  override head(signal?: AbortSignal): Promise<ReportedHead> {
    return this.#paid(0, () => super.head(signal));
  }

  override blockAt(number: bigint, signal?: AbortSignal): Promise<BlockRef> {
    return this.#paid(0, () => super.blockAt(number, signal));
  }

  override logs(addresses: readonly Address[], fromBlock: bigint, toBlock: bigint): Promise<readonly ChainLog[]> {
    return this.#paid(0, () => super.logs(addresses, fromBlock, toBlock));
  }

  override call<T>(call: EthCall, check: (result: Hex) => T, signal?: AbortSignal): Promise<T> {
    const likely = call.likelyGas ?? Math.min(UNTOLD_GAS, Number(call.gas));
    // Others draw on the class too: all that can be saved up is seldom there.
    const gas = Math.min(likely, this.#budget.mostGas(this.#kind) / 2);
    return this.#paid(gas, () => super.call(call, check, signal));
  }

  override code(address: Address, block: BlockRef, signal?: AbortSignal): Promise<Hex> {
    return this.#paid(0, () => super.code(address, block, signal));
  }

  async #paid<T>(gas: number, request: () => Promise<T>): Promise<T> {
    let paid = this.#budget.pay(this.#kind, gas);
    for (; !paid; paid = this.#budget.pay(this.#kind, gas)) await sleep(POLL_MS);
    try {
      return await request();
    } finally {
      paid.settle();
    }
  }
}

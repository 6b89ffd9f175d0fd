import { setTimeout as sleep } from 'node:timers/promises';
import type { Address, Hex } from 'viem';
import { type BlockRef, type ChainLog, ChainRpc, type EthCall, type ReportedHead } from '../chain-rpc.ts';
import { RpcFailure } from '../rpc-failure.ts';
import type { CallBudget, ReadClass } from './call-budget.ts';

/** What a request waits for. @param at the block that it is made at; `latest` without one */
type Admit = (at: BlockRef | 'latest', signal: AbortSignal | undefined) => Promise<void>;

const POLL_MS = 100;

/** The nodes of a chain, of which each request is admitted first. */
class MeteredRpc extends ChainRpc {
  readonly #admit: Admit;

  constructor({ endpoints }: ChainRpc, admit: Admit) {
    super(endpoints);
    this.#admit = admit;
  }

  override async head(signal?: AbortSignal): Promise<ReportedHead> {
    await this.#admit('latest', signal);
    return super.head(signal);
  }

  override async blockAt(number: bigint, signal?: AbortSignal): Promise<BlockRef> {
    await this.#admit('latest', signal);
    return super.blockAt(number, signal);
  }

  override async logs(addresses: readonly Address[], fromBlock: bigint, toBlock: bigint): Promise<readonly ChainLog[]> {
    await this.#admit('latest', undefined);
    return super.logs(addresses, fromBlock, toBlock);
  }

  override async call<T>(call: EthCall, check: (result: Hex) => T, signal?: AbortSignal): Promise<T> {
    await this.#admit(call.block, signal);
    return super.call(call, check, signal);
  }

  override async code(address: Address, block: BlockRef, signal?: AbortSignal): Promise<Hex> {
    await this.#admit(block, signal);
    return super.code(address, block, signal);
  }
}

/** Nodes for scheduled work of a class: each request waits until the budget has a call for it, or its signal aborts. */
export function budgetedRpc(rpc: ChainRpc, budget: CallBudget, kind: ReadClass): ChainRpc {
  return new MeteredRpc(rpc, async (_, signal) => {
    while (!budget.reserve(kind)) {
      await sleep(POLL_MS, undefined, { signal }).catch(() => {
        throw new RpcFailure('aborted', 'the caller gave up before the read budget had a call');
      });
    }
  });
}

/** Nodes for requests and scheduled reads: a call at a block with `reserve` fails as `exhausted` unless that admits it. */
export function reservingRpc(rpc: ChainRpc): ChainRpc {
  return new MeteredRpc(rpc, async (at) => {
    if (at !== 'latest' && at.reserve?.() === false) throw new RpcFailure('exhausted', 'the read budget is exhausted');
  });
}

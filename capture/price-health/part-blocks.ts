import { type ChainRpc, openChainRpc } from '../../chain/chain-rpc.ts';
import { boundedCallsOnce } from '../../chain/isolated-calls.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { BudgetedRpc } from '../../chain/read-schedule/budgeted-rpc.ts';
import type { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { PartSourceConfig } from '../../config/live-schema.ts';
import type { BoundedAnswer, BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { LiveBlock, PriceBlocks } from '../../quoting/live/live-blocks.ts';
import { atNewestPart, type NewestPartDeps, readNewestPart } from '../../quoting/parts/newest-part.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';

export interface PartBlocksDeps extends Pick<NewestPartDeps, 'seen' | 'divergence' | 'now'> {
  readonly chain: ChainConfig;
  readonly source: PartSourceConfig;
  /** Gives the committed head. Its requests wait for the read budget. */
  readonly rpc: ChainRpc;
  readonly budget: CallBudget;
  readonly countCall?: CountChainCall | undefined;
  /** Longest wait for a call that shows the part, and for the budget to have one. Default: 500 ms; tests change it. */
  readonly readMs?: number;
}

const READ_MS = 500;
/** Any other call at the tag `pending` may take this many times as long. */
const TIMEOUT_FACTOR = 4;

/** The parts of a chain's blocks being built, for prices: each is asked for when it is needed, and none is followed. */
export class PartBlocks implements PriceBlocks {
  /** Nothing is remembered of nodes. */
  readonly heads = { confirm: () => undefined, reject: () => true, suspend: () => false };
  readonly #deps: PartBlocksDeps;
  readonly #readMs: number;
  readonly #rpc: ChainRpc;

  constructor(deps: PartBlocksDeps) {
    const { chain, source, divergence, countCall = () => undefined, readMs = READ_MS } = deps;
    const isLast = (node: string) => divergence?.isDivergent(node) === true;
    const nodes = { chainId: chain.chainId, rpcUrls: source.rpcUrls, isLast };
    this.#deps = deps;
    this.#readMs = readMs;
    this.#rpc = openChainRpc(nodes, TIMEOUT_FACTOR * readMs, countCall);
  }

  /** Gives the head with its newest part; undefined where that is not read or used, or the budget is exhausted. */
  async now(): Promise<LiveBlock | undefined> {
    const { chain, budget, ...deps } = this.#deps;
    const { chainId, multicall3 } = chain;
    const parts = { rpc: new BudgetedRpc(this.#rpc, budget, 'funded'), chainId, multicall3 };
    // Reads at the committed head report what is wrong with the nodes.
    return readNewestPart({ ...deps, parts, readMs: this.#readMs }).catch(() => undefined);
  }

  /**
   * Makes one call after the newest part.
   *
   * @param reserve takes a further call from the budget, where a newer part came first
   * @throws RpcFailure when the nodes did not answer, or of an earlier part
   */
  async send(block: BlockRef, calls: readonly BoundedCall[], reserve: () => boolean): Promise<BoundedAnswer> {
    const target = { rpc: this.#rpc, chainId: this.#deps.chain.chainId };
    return atNewestPart(block, { reserve, seen: this.#deps.seen, now: this.#deps.now }, (at) =>
      boundedCallsOnce(target, { block: at }, calls),
    );
  }
}

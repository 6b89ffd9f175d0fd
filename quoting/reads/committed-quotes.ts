import type { Address } from 'viem';
import { withoutOverrides } from '../../chain/pending-state.ts';
import type { ReadContext } from '../../chain/read-context.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { PoolAnswers } from '../calls/decode-pool.ts';
import type { ServedPool } from '../pools/pool-directory.ts';

/**
 * What providers quote in the block that is being built if no update lands, read once per pool and such a block. A pool
 * has a live price only if the overrides of sources change this.
 */
export class CommittedQuotes {
  #block: { readonly state: string; readonly quotes: Map<Address, CallResult | undefined> } = {
    state: '',
    quotes: new Map(),
  };

  /**
   * Gives the quotes in the order of the pools; undefined for all at a committed block, and after a part.
   *
   * @param read reads pools
   */
  async quotes(
    context: ReadContext,
    pools: readonly ServedPool[],
    read: (context: ReadContext, pools: readonly ServedPool[]) => Promise<readonly PoolAnswers[]>,
  ): Promise<readonly (CallResult | undefined)[]> {
    const { pending, ...committed } = context.block;
    if (!pending || pending.part) return [];
    const block = withoutOverrides({ ...committed, pending });
    // Frames of one block differ in overrides alone.
    const state = `${committed.hash} ${pending.blockNumber} ${pending.timestamp}`;
    if (this.#block.state !== state) this.#block = { state, quotes: new Map() };
    const { quotes } = this.#block;
    const unread = pools.filter(({ address }) => !quotes.has(address));
    const answers = unread.length > 0 ? await read({ ...context, block }, unread) : [];
    for (const [index, { address }] of unread.entries()) quotes.set(address, answers[index]?.quote);
    return pools.map(({ address }) => quotes.get(address));
  }
}

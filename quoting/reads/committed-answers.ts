import type { Address } from 'viem';
import { withoutOverrides } from '../../chain/pending-state.ts';
import type { ReadContext } from '../../chain/read-context.ts';
import type { PoolAnswers } from '../calls/decode-pool.ts';
import type { ServedPool } from '../pools/pool-directory.ts';

/** What a pool answers without the overrides of sources. Absent: that was not read. */
export type CommittedAnswer = Pick<PoolAnswers, 'storage' | 'quote'>;

/**
 * What pools store, and what their providers quote, in the block that is being built if no update lands, read once per
 * pool and such a block. A pool has a live price only if the overrides of sources change the quote. They never change
 * the storage of pools, which is protected.
 */
export class CommittedAnswers {
  #block: { readonly state: string; readonly answers: Map<Address, CommittedAnswer> } = {
    state: '',
    answers: new Map(),
  };

  /**
   * Gives the answers in the order of the pools; none at a committed block, and after a part.
   *
   * @param read reads pools
   */
  async answers(
    context: ReadContext,
    pools: readonly ServedPool[],
    read: (context: ReadContext, pools: readonly ServedPool[]) => Promise<readonly PoolAnswers[]>,
  ): Promise<readonly CommittedAnswer[]> {
    const { pending, ...committed } = context.block;
    if (!pending || pending.part) return [];
    const block = withoutOverrides({ ...committed, pending });
    // Frames of one block differ in overrides alone.
    const state = `${committed.hash} ${pending.blockNumber} ${pending.timestamp}`;
    if (this.#block.state !== state) this.#block = { state, answers: new Map() };
    const { answers } = this.#block;
    const unread = pools.filter(({ address }) => !answers.has(address));
    const found = unread.length > 0 ? await read({ ...context, block }, unread) : [];
    for (const [index, { address }] of unread.entries()) {
      const answer = found[index];
      if (answer?.storage?.success) answers.set(address, answer);
    }
    return pools.map(({ address }) => answers.get(address) ?? {});
  }
}

import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { withoutOverrides } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { BoundedCall, BoundedResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { GroupAnswer } from '../../protocol/bounded-calls/run-bounded-calls.ts';
import { isPricedByOverrides } from '../calls/probe-calls.ts';
import type { LiveBlock } from './live-blocks.ts';
import type { LiveHeads } from './live-heads.ts';

/** Runs groups of calls at a block, in order. @returns null for a group that was not begun */
export type RunCalls = (
  block: BlockRef,
  groups: readonly (readonly BoundedCall[])[],
) => Promise<readonly (Pick<GroupAnswer, 'results'> | null)[]>;

/** A pool in the block that is being built. */
export interface LiveAnswer {
  /** Those of the calls of a pool with a live price; null of a pool without. */
  readonly results: readonly BoundedResult[] | null;
  /** All calls that were run to know this. */
  readonly ran: readonly BoundedResult[];
}

/**
 * Runs the calls of pools in the block that is being built, by the rule of quotes: a pool has a live price there if the
 * overrides of sources change its price; after a part, if it has a price.
 *
 * @param groups the calls of each pool, of which the first gives its price
 * @returns in the order of the pools; undefined for a pool that was not read, because calls were not begun,
 * or nodes did not answer
 */
export async function readLiveCalls(
  { heads, run }: { readonly heads: Pick<LiveHeads, 'suspend'>; readonly run: RunCalls },
  head: LiveBlock,
  groups: readonly (readonly BoundedCall[])[],
): Promise<(LiveAnswer | undefined)[]> {
  if (groups.length === 0) return [];
  const read = async () => {
    const live = await run(head.block, groups);
    // After a part all that happened is in what was read.
    if (head.block.pending.part)
      return live.map((answer): LiveAnswer | undefined => {
        if (!answer) return undefined;
        const { results } = answer;
        return { results: results[0]?.success ? results : null, ran: results };
      });
    const priced = groups.flatMap(([price], index) => (live[index]?.results[0]?.success && price ? [[price]] : []));
    const committed = [...(await run(withoutOverrides<BlockRef>(head.block), priced))];
    return live.map((answer): LiveAnswer | undefined => {
      if (!answer) return undefined;
      const { results } = answer;
      if (!results[0]?.success) return { results: null, ran: results };
      const without = committed.shift()?.results;
      if (!without) return undefined;
      return { results: isPricedByOverrides(results[0], without[0]) ? results : null, ran: [...results, ...without] };
    });
  };
  // Where nodes do not read overrides, quotes are committed too. A part that is refused may be read a moment later.
  const unread = (isUnreadable: boolean) =>
    groups.map(() => (isUnreadable && !head.block.pending.part ? { results: null, ran: [] } : undefined));
  return tryLive(heads, head, read, unread);
}

/**
 * Reads in a block that is being built. When nodes refuse such blocks, or ignore their overrides,
 * heads are committed for a while.
 *
 * @param otherwise gives what holds when nodes failed; `isUnreadable`: they do not read such blocks
 * @throws RpcFailure `exhausted`: a scheduled read that is not made leaves what was read before
 */
export async function tryLive<T>(
  heads: Pick<LiveHeads, 'suspend'>,
  head: ReportedHead,
  read: () => Promise<T>,
  otherwise: (isUnreadable: boolean) => T,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RpcFailure) || error.code === 'exhausted') throw error;
    const mayLackBlock = heads.suspend(head, error);
    return otherwise(error.isAnswer && !mayLackBlock);
  }
}

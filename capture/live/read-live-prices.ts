import { boundedCallsOnce, type ChainTarget } from '../../chain/isolated-calls.ts';
import { withoutOverrides } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { BoundedCall, BoundedResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { isPricedByOverrides } from '../../quoting/calls/probe-calls.ts';
import { poolPriceCalls } from '../price-health/pool-price.ts';
import type { CaptureClass, KnownPool } from '../read-schedule/pool-values.ts';
import { gasUsedBy, runWithinBudget } from '../read-schedule/read-due-pools.ts';
import type { LiveBlock, LiveBlocks } from './live-blocks.ts';

export interface LivePriceDeps {
  readonly kind: CaptureClass;
  readonly target: ChainTarget;
  readonly budget: CallBudget;
  readonly blocks: Pick<LiveBlocks, 'suspend'>;
}

/** A pool to read, and the results of the same calls at the committed head. */
export interface CommittedRead {
  readonly pool: Pick<KnownPool, 'address' | 'layout'>;
  readonly results: readonly BoundedResult[];
}

/** A pool in the block that is being built. */
export interface LiveRead {
  /** Those of `poolPriceCalls` of a pool with a live price; null of a pool without. */
  readonly results: readonly BoundedResult[] | null;
  readonly gas: number;
}

/**
 * Reads prices in the block that is being built, by the rule of quotes: a pool has a live price there if the overrides of
 * sources change what its provider quotes.
 *
 * @returns in the order of the pools; undefined for a pool that was not read, because budget or gas was exhausted, or
 *   nodes did not answer
 */
export async function readLivePrices(
  { kind, target, budget, blocks }: LivePriceDeps,
  head: LiveBlock,
  pools: readonly CommittedRead[],
): Promise<(LiveRead | undefined)[]> {
  if (pools.length === 0) return [];
  const send = (block: BlockRef) => (calls: readonly BoundedCall[]) => boundedCallsOnce(target, { block }, calls);
  try {
    const read = await runWithinBudget(kind, pools.map(liveCalls), { budget, send: send(head.block) });
    const isPriced = read.map((answer) => answer?.results[0]?.success === true);
    const groups = pools.filter((_, index) => isPriced[index]).map((pool) => liveCalls(pool).slice(0, 1));
    const committed = await runWithinBudget(kind, groups, {
      budget,
      send: send(withoutOverrides<BlockRef>(head.block)),
    });
    return read.map((answer, index) => {
      if (!answer) return undefined;
      const { results } = answer;
      if (!isPriced[index]) return { results: null, gas: gasUsedBy(results) };
      const without = committed.shift()?.results;
      if (!without) return undefined;
      const gas = gasUsedBy(results) + gasUsedBy(without);
      return { results: isPricedByOverrides(results[0], without[0]) ? results : null, gas };
    });
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    blocks.suspend(head, error);
    // Where nodes do not read the block that is being built, quotes are committed too.
    const isUnreadable = error.code === 'refused' || error.code === 'ignored';
    return pools.map(() => (isUnreadable ? { results: null, gas: 0 } : undefined));
  }
}

/** Plans the gas that a pool burned at the committed head, where it is more than usual. */
function liveCalls({ pool, results: [price] }: CommittedRead): BoundedCall[] {
  const calls = poolPriceCalls(pool);
  return calls.map((call, index) =>
    index === 0 ? { ...call, likelyGas: Math.max(call.likelyGas, price?.gasUsed ?? 0) } : call,
  );
}

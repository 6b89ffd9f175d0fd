import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { type MulticallTarget, multicall } from '../../chain/multicall.ts';
import { feeCalls, isLaterView, OtherPart, readFees } from '../../chain/part-view.ts';
import { pendingPart } from '../../chain/pending-part.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { readPart } from '../../chain/read-part.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { LiveBlock } from '../live/live-blocks.ts';
import type { Divergence } from './divergence.ts';
import type { SeenParts } from './seen-parts.ts';

/** Calls run on so many parts at most, where another one comes first. */
const MAX_PARTS = 3;

export interface NewestPartDeps {
  /** Gives the committed head. */
  readonly rpc: Pick<ChainRpc, 'head'>;
  /** The nodes that follow parts. */
  readonly parts: MulticallTarget;
  /** Judges parts by those that were shown before. */
  readonly seen: SeenParts;
  /** Whether parts of a node are left out. Default: never. */
  readonly divergence?: Pick<Divergence, 'isDivergent'> | undefined;
  /** Longest wait for the call that shows the part, milliseconds. */
  readonly readMs: number;
  readonly now: Clock;
}

/**
 * Reads the head and which part nodes are at, for a reader that follows none: one call each. One more reads the fees of
 * the head where a part has less than an earlier one: some may have been withdrawn.
 *
 * @returns undefined where the part is not used, as {@link SeenParts} and {@link Divergence} say, or not of the block
 *   after the head: reads are too rare to see whether that is so for a moment alone
 * @throws RpcFailure when nodes did not give both
 */
export async function readNewestPart({
  rpc,
  parts,
  seen,
  divergence,
  readMs,
  now,
}: NewestPartDeps): Promise<LiveBlock | undefined> {
  const isLeftOut = (node: string | undefined) => divergence?.isDivergent(node) === true;
  if (parts.rpc.endpoints.every(({ label }) => isLeftOut(label))) return undefined;
  const [head, { view, shownAt }] = await Promise.all([
    rpc.head(),
    readPart(parts, AbortSignal.timeout(readMs)).then((shown) => ({ view: shown, shownAt: now() })),
  ]);
  if (isLeftOut(view.node)) return undefined;
  const shown = { view, index: null, head: head.block };
  let outcome = seen.judge(shown, shownAt);
  if (outcome === 'lagging') {
    const [fees = []] = await multicall(parts, head, [feeCalls(parts.multicall3)]);
    const feesWei = readFees(fees);
    if (feesWei !== undefined) seen.noteFees({ ...head.block, feesWei });
    outcome = seen.judge(shown, shownAt);
  }
  if (outcome !== 'used' || view.blockNumber !== head.block.number + 1n) return undefined;
  const { multicall3 } = parts;
  return { ...head, block: { ...head.block, pending: pendingPart({ view, index: null, multicall3 }, shownAt) } };
}

export interface AtNewestPartOptions {
  /** Takes a further call from a budget; false when it has none. Default: the call does. */
  readonly reserve?: () => boolean;
  /** Judges the newer part. Default: it is used. */
  readonly seen?: SeenParts;
  readonly now: Clock;
}

/**
 * Makes calls at a block; where a newer part came first than the block's, again on that.
 *
 * @throws what the calls throw; OtherPart when their part passed, and they are not made again
 */
export async function atNewestPart<B extends BlockRef, T>(
  block: B,
  { reserve = () => true, seen, now }: AtNewestPartOptions,
  call: (at: B) => Promise<T>,
): Promise<T> {
  let at = block;
  for (let parts = 1; ; parts += 1) {
    try {
      return await call(at);
    } catch (error) {
      const part = at.pending?.part;
      const isNewer = error instanceof OtherPart && part && isLaterView(error.view, part.view);
      if (!isNewer || parts === MAX_PARTS) throw error;
      const shown = { view: error.view, index: null, head: block };
      if ((seen && seen.judge(shown, now()) !== 'used') || !reserve()) throw error;
      at = { ...at, pending: pendingPart({ ...part, view: error.view, index: null }, now()) };
    }
  }
}

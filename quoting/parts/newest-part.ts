import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { MulticallTarget } from '../../chain/multicall.ts';
import { isLaterView, OtherPart } from '../../chain/part-view.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { readPart } from '../../chain/read-part.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { LiveBlock } from '../live/live-blocks.ts';
import type { Divergence } from './divergence.ts';
import { nextPart, noPart } from './next-part.ts';
import { pendingPart } from './pending-part.ts';

/** Calls run on so many parts at most, where another one comes first. */
const MAX_PARTS = 3;

export interface NewestPartDeps {
  /** Gives the committed head. */
  readonly rpc: Pick<ChainRpc, 'head'>;
  /** The nodes that follow parts. */
  readonly parts: MulticallTarget;
  /** Whether parts are left out. Default: never. */
  readonly divergence?: Pick<Divergence, 'isDivergent'> | undefined;
  /** Longest wait for the call that shows the part, milliseconds. */
  readonly readMs: number;
  readonly now: Clock;
}

/**
 * Reads the head and which part nodes are at, for a reader that follows none: one call each.
 *
 * @returns undefined where the part is not used, as {@link nextPart} and {@link Divergence} say
 * @throws RpcFailure when nodes did not give both
 */
export async function readNewestPart({
  rpc,
  parts,
  divergence,
  readMs,
  now,
}: NewestPartDeps): Promise<LiveBlock | undefined> {
  if (divergence?.isDivergent) return undefined;
  const [head, { view, shownAt }] = await Promise.all([
    rpc.head(),
    readPart(parts, AbortSignal.timeout(readMs)).then((shown) => ({ view: shown, shownAt: now() })),
  ]);
  const [, outcome] = nextPart(noPart, { view, index: null, head: head.block }, shownAt);
  if (outcome !== 'used') return undefined;
  const { multicall3 } = parts;
  return { ...head, block: { ...head.block, pending: pendingPart({ view, index: null, multicall3 }, shownAt) } };
}

export interface AtNewestPartOptions {
  /** Takes a further call from a budget; false when it has none. Default: the call does. */
  readonly reserve?: () => boolean;
  readonly now: Clock;
}

/**
 * Makes calls at a block; where a newer part came first than the block's, again on that.
 *
 * @throws what the calls throw; OtherPart when their part passed, and they are not made again
 */
export async function atNewestPart<B extends BlockRef, T>(
  block: B,
  { reserve = () => true, now }: AtNewestPartOptions,
  call: (at: B) => Promise<T>,
): Promise<T> {
  let at = block;
  for (let parts = 1; ; parts += 1) {
    try {
      return await call(at);
    } catch (error) {
      const part = at.pending?.part;
      const isNewer = error instanceof OtherPart && part && isLaterView(error.view, part.view);
      if (!isNewer || parts === MAX_PARTS || !reserve()) throw error;
      at = { ...at, pending: pendingPart({ ...part, view: error.view, index: null }, now()) };
    }
  }
}

import { isLaterView, OtherPart } from '../../chain/part-view.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { Clock } from '../../runtime/clock.ts';
import { pendingPart } from './pending-part.ts';

/** Calls run on so many parts at most, where another one comes first. */
const MAX_PARTS = 3;

export interface NewestPartOptions {
  /** Takes a further call from a budget; false when it has none. Default: the call does. */
  readonly reserve?: () => boolean;
  readonly now: Clock;
}

/**
 * Makes a call at a block; where a newer part came first than the block's, again on that.
 *
 * @throws what the call throws; OtherPart when its part passed, and it is not made again
 */
export async function atNewestPart<T>(
  block: BlockRef,
  { reserve = () => true, now }: NewestPartOptions,
  call: (at: BlockRef) => Promise<T>,
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

import { isSameView } from '../../chain/part-view.ts';
import type { PartView } from '../../chain/pending-state.ts';
import type { UsedPart } from './next-part.ts';

/** A part that a node pushed. */
export interface PushedPart {
  readonly blockNumber: bigint;
  /** Null where the node does not say it. */
  readonly index: number | null;
  /** Whether the message shows that nothing happened since the part that it pushed before. */
  readonly isUnchanged: boolean;
}

/** The pushes of a chain's nodes, as far as they tell what calls show. */
export interface Pushes {
  /** The last one, while no part that is used has its index. */
  readonly last: PushedPart | undefined;
  /** Counts pushes after which the state may be another one. */
  readonly changes: number;
  /** Whose push was the last of these: by its pushes parts are counted, as each node pushes them all. */
  readonly from: string | undefined;
  /** How many parts in which nothing happened came since. */
  readonly unchanged: number;
  /** The newest of these changes that the used part comes after, as a call showed. */
  readonly shown: number;
  /** The last block of which calls were behind the pushes; null: of none. */
  readonly behindIn: bigint | null;
}

export const noPushes: Pushes = {
  last: undefined,
  changes: 0,
  from: undefined,
  unchanged: 0,
  shown: -1,
  behindIn: null,
};

/** A node that pushed a part may answer so many parts behind it. */
const MAX_BEHIND = 3;

/** The pushes and one more. @param from names the socket */
export function withPush(pushes: Pushes, last: PushedPart | undefined, from: string): Pushes {
  if (last?.isUnchanged) return { ...pushes, last, unchanged: pushes.unchanged + (from === pushes.from ? 1 : 0) };
  return { ...pushes, last, changes: pushes.changes + 1, from, unchanged: 0 };
}

/** After a call, whether what it showed is used or not. @param begun as for {@link withCall} */
export function withView(pushes: Pushes, begun: Pushes | undefined, { blockNumber }: PartView): Pushes {
  const pushed = begun?.last?.blockNumber;
  return pushed !== undefined && pushed > blockNumber ? { ...pushes, behindIn: pushed } : pushes;
}

/**
 * After a call that showed a part which is used. It shows what the last change did if it began `MAX_BEHIND` parts
 * later.
 *
 * @param begun the pushes when it began; undefined: it is not known
 */
export function withCall(pushes: Pushes, begun: Pushes | undefined, index: number | null): Pushes {
  const isNewest = begun?.changes === pushes.changes && begun.unchanged >= MAX_BEHIND;
  return {
    ...pushes,
    last: index === null ? pushes.last : undefined,
    shown: isNewest ? pushes.changes : pushes.shown,
  };
}

/** Whether the part that was pushed last has the state of the one that is used, so that no call need show it. */
export const isUsedState = ({ last, changes, shown }: Pushes, used: UsedPart): boolean =>
  last?.isUnchanged === true && shown === changes && used.view.blockNumber === last.blockNumber;

/**
 * The index of what a call showed: null where it may be of another part than was pushed last, as in a block whose first
 * push came before calls ran in it.
 */
export function indexOf(
  { last: pushed, behindIn }: Pushes,
  begun: Pushes | undefined,
  view: PartView,
  used: UsedPart | undefined,
): number | null {
  if (pushed?.blockNumber !== view.blockNumber || pushed.index === null || behindIn === view.blockNumber) return null;
  const last = used?.view.blockNumber === view.blockNumber ? used.index : -1;
  if (last !== null && pushed.index <= last) return null;
  const before = begun?.last;
  if (before) return before.blockNumber === pushed.blockNumber && before.index === pushed.index ? pushed.index : null;
  // A push during the call: it shows that part if it shows another one than the part before.
  const isNext = last !== null && pushed.index === last + 1;
  return isNext && !(used && isSameView(used.view, view)) ? pushed.index : null;
}

import type { Hex } from 'viem';
import type { PartView } from '../../chain/pending-state.ts';

/** What the accounts of fees hold in a sealed block. */
export interface SealedFees {
  readonly number: bigint;
  readonly hash: Hex;
  /** Wei. */
  readonly feesWei: bigint;
}

export interface LagState {
  /** The last sealed blocks of which it is known, in the order in which it became known. */
  readonly sealed: readonly SealedFees[];
  /** By the part with the most fees, the last blocks whose parts were shown and that are not sealed yet. */
  readonly shown: readonly PartView[];
  /** How many blocks in a row only had parts with the fees of their parent, though something paid fees in them. */
  readonly blocks: number;
}

/** A part that was shown. */
interface ShownPart {
  readonly view: PartView;
  /** Hash of its parent block; null while that is not the head. */
  readonly parent: Hex | null;
  /** The part that is used. */
  readonly last: PartView | undefined;
}

/** After this many blocks in a row, parts need more fees than their parent has. */
export const LAG_BLOCKS = 3;
const KEPT_BLOCKS = 4;

export const noLag: LagState = { sealed: [], shown: [], blocks: 0 };

/**
 * Whether the state of a part may be older than its block: nodes answer so whose calls run in the next block, on the
 * state of the head or of a block below.
 *
 * 1. A part has no less fees than its parent, nor, while those are not known, than the part that is used.
 * 2. While the node lags, it has more. It lags after a part with less fees than its parent, and after `LAG_BLOCKS`
 *    blocks in a row whose parts all had the fees of their parent, while the sealed block has more.
 * 3. It lags no longer once a block is sealed of which a part had more fees than its parent.
 *
 * Where nothing pays fees, the parts have the state of their parent: a node that gives that is right.
 *
 * @returns whether the part is to be refused
 */
export function withShown(before: LagState, { view, parent, last }: ShownPart): readonly [LagState, boolean] {
  const state = { ...before, shown: withHighest(before.shown, view) };
  const isLagging = before.blocks >= LAG_BLOCKS;
  const parentFees = before.sealed.find(({ hash }) => hash === parent)?.feesWei;
  if (parentFees !== undefined) {
    if (view.feesWei < parentFees) return [{ ...state, blocks: LAG_BLOCKS }, true];
    return [state, isLagging && view.feesWei === parentFees];
  }
  return [state, isLagging || (last !== undefined && isAbove(view, last) && view.feesWei < last.feesWei)];
}

/** After it became known what the accounts of fees hold in a sealed block. */
export function withSealed(before: LagState, block: SealedFees): LagState {
  const sealed = [...before.sealed.filter(({ hash }) => hash !== block.hash), block].slice(-KEPT_BLOCKS);
  const part = before.shown.find(({ blockNumber }) => blockNumber === block.number);
  const parent = sealed.findLast(
    ({ number, hash }) => number === block.number - 1n && (part?.parentHash ?? hash) === hash,
  );
  const shown = before.shown.filter((each) => each !== part);
  if (!part || !parent) return { ...before, sealed, shown };
  if (part.feesWei > parent.feesWei) return { sealed, shown, blocks: 0 };
  const isBehind = block.feesWei > parent.feesWei;
  return { sealed, shown, blocks: isBehind ? Math.min(before.blocks + 1, LAG_BLOCKS) : before.blocks };
}

const isAbove = (one: PartView, other: PartView): boolean => one.blockNumber > other.blockNumber;

function withHighest(shown: readonly PartView[], view: PartView): readonly PartView[] {
  const isOf = ({ blockNumber, parentHash }: PartView) =>
    blockNumber === view.blockNumber && parentHash === view.parentHash;
  const known = shown.find(isOf);
  if (known && known.feesWei >= view.feesWei) return shown;
  return [...shown.filter(({ blockNumber }) => blockNumber !== view.blockNumber), view].slice(-KEPT_BLOCKS);
}

import { isSameView, mayBeOn } from '../../chain/part-view.ts';
import type { PartView } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { type LagState, noLag, type SealedFees, withSealed, withShown } from './next-lag.ts';

/**
 * Why what a call at the tag `pending` shows is not used:
 *
 * - `headless`: the head is not known;
 * - `committed`: it ran at the head, as nodes do that do not follow parts;
 * - `behind`: it ran at a block below;
 * - `ahead`: it ran more than one block too high, or for too long;
 * - `time`: its block is not later than the head, or has another time than its earlier parts;
 * - `parent`: its block is built on another block than the head;
 * - `older`: it ran on an earlier part than was used;
 * - `lagging`: its state may be older than its block, as {@link withShown} says.
 */
export type PartRefusal = 'headless' | 'committed' | 'behind' | 'ahead' | 'time' | 'parent' | 'older' | 'lagging';

/** A part that is used. */
export interface UsedPart {
  readonly view: PartView;
  /** Counts the parts of the block from 0; null where it is not known. */
  readonly index: number | null;
  /** When a call last showed it. */
  readonly shownAt: number;
}

/** All times are of one clock that never goes back, milliseconds. */
export interface PartState {
  readonly used: UsedPart | undefined;
  /** The block whose parts were last shown before its parent was seen; null: since then it was seen. */
  readonly early: EarlyBlock | null;
  /** What fees say of the state that parts show. */
  readonly lag: LagState;
}

export interface EarlyBlock {
  readonly blockNumber: bigint;
  /** When its parts were first shown so. */
  readonly since: number;
}

/** What happened: a call showed this. `head`: the newest block that was seen, while it is known. */
export interface PartShown {
  readonly view: PartView;
  readonly index: number | null;
  readonly head: Pick<BlockRef, 'number' | 'hash' | 'timestamp'> | undefined;
}

export type PartOutcome = 'used' | PartRefusal;

/** For so long parts of the block after the next one are used: the head is a little late then. */
export const AHEAD_MS = 1_000;

/** How far above the head a part may be. */
const MAX_AHEAD = 2n;

export const noPart: PartState = { used: undefined, early: null, lag: noLag };

/**
 * Judges what a call at the tag `pending` shows.
 *
 * Invariants:
 * 1. A part is of the block after the head, or, for `AHEAD_MS` per block, of the one after that.
 * 2. Its block is later than the head. Where the head is its parent and the node gives the parent's hash,
 *    it is the head's.
 * 3. None is used after a later one: neither its number goes back, unless the chain does, nor the fees of one block.
 * 4. All parts of one block on one parent have one time.
 * 5. What is refused changes nothing of the part that is used.
 * 6. The index of a part is that of the first call that showed both.
 * 7. None is used with less fees than its parent block, as far as they are known; else than the part that is used.
 *
 * Where a transaction takes fees out of their accounts, the later parts of its block are refused as `older`: a lower
 * sum may also be what a node shows that answers half of the calls from an older part, however often it does.
 */
export function nextPart(before: PartState, shown: PartShown, now: number): readonly [PartState, PartOutcome] {
  const { view, index, head } = shown;
  if (!head) return [before, 'headless'];
  const ahead = view.blockNumber - head.number;
  const state = { ...before, early: earlyAfter(before.early, view, ahead, now) };
  const refusal = refusalOf(state, { view, head, ahead }, now);
  if (refusal && refusal !== 'older') return [state, refusal];
  const { used } = state;
  const [lag, isLagging] = withShown(before.lag, { view, parent: ahead === 1n ? head.hash : null, last: used?.view });
  if (refusal || isLagging) return [{ ...state, lag }, refusal ?? 'lagging'];
  const isSame = used !== undefined && isSameView(used.view, view);
  const next = isSame
    ? { view: { ...used.view, node: view.node }, index: used.index ?? index, shownAt: now }
    : { view, index, shownAt: now };
  return [{ ...state, lag, used: next }, 'used'];
}

/** The state after it became known what the accounts of fees hold in a sealed block. */
export const withFees = (state: PartState, block: SealedFees): PartState => ({
  ...state,
  lag: withSealed(state.lag, block),
});

/** One block may be early for its time, whatever others were before it. */
function earlyAfter(
  early: EarlyBlock | null,
  { blockNumber }: PartView,
  ahead: bigint,
  now: number,
): EarlyBlock | null {
  const isKnown = early?.blockNumber === blockNumber;
  if (ahead === MAX_AHEAD) return isKnown ? early : { blockNumber, since: now };
  return isKnown && ahead === 1n ? null : early;
}

type KnownHead = NonNullable<PartShown['head']>;

function refusalOf(
  { used, early }: PartState,
  { view, head, ahead }: { readonly view: PartView; readonly head: KnownHead; readonly ahead: bigint },
  now: number,
): PartRefusal | null {
  if (ahead <= 0n) return ahead === 0n ? 'committed' : 'behind';
  if (ahead > MAX_AHEAD) return 'ahead';
  if (ahead === MAX_AHEAD && early && now - early.since > AHEAD_MS) return 'ahead';
  if (view.timestamp <= head.timestamp) return 'time';
  if (!mayBeOn(view, head)) return 'parent';
  return used ? refusedAfter(used.view, view, head) : null;
}

/** Why a part is not used after another one. */
function refusedAfter(last: PartView, view: PartView, head: KnownHead): PartRefusal | null {
  if (view.blockNumber > last.blockNumber) return null;
  // Unless the chain went back so far that the last one cannot be built any more.
  if (view.blockNumber < last.blockNumber) return last.blockNumber > head.number + MAX_AHEAD ? null : 'older';
  const isOtherBranch = last.parentHash !== null && view.parentHash !== null && last.parentHash !== view.parentHash;
  if (isOtherBranch) return null;
  if (view.timestamp !== last.timestamp) return 'time';
  return view.feesWei < last.feesWei ? 'older' : null;
}

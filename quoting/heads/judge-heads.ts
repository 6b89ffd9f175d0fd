import type { BlockHeader } from '../../chain/read-context.ts';
import { type ChainTail, MAX_LOOK_BACK } from './chain-tail.ts';
import { type Candidate, GRACE_MS, type Headed, type HeadState, lastHead, type Step, takeAt } from './head-state.ts';

/** Keeps a head if it is wanted: at once when its parent was seen, else after a search for a parent that was. */
export function judge<H extends Headed>(step: Step<H>, candidate: Candidate<H>): Step<H> {
  const { state } = step;
  const isFirst = state.waiting.length === 0;
  const judged = { ...step, state: { ...state, waiting: [...state.waiting, candidate] } };
  return isFirst ? judgeWaiting(judged, candidate.isPolled ? state.polledAt : step.now) : judged;
}

/** Goes on with the first head that waits, once the block below it was looked up. */
export function lookedUp<H extends Headed>(step: Step<H>, header: BlockHeader | undefined): Step<H> {
  const [first, ...others] = step.state.waiting;
  if (!first) return step;
  const { block } = first.head;
  const head = header
    ? { ...first.head, block: { ...block, parents: [...block.parents, ...header.parents] } }
    : first.head;
  const waiting = [{ ...first, head }, ...others];
  const next = { ...step, state: { ...step.state, waiting } };
  // If a parent cannot be looked up, the shared block counts as too far away, which listeners see.
  return header && isParentMissing(step.state.seen, head.block)
    ? withLookUp(next, head.block)
    : keepFirst(next, step.now);
}

/** @param at when a head counts as taken */
function judgeWaiting<H extends Headed>(step: Step<H>, at: number): Step<H> {
  const { state } = step;
  const [first] = state.waiting;
  if (!first) return step;
  if (!isWanted(state, first)) return endFirst(step, at);
  return isParentMissing(state.seen, first.head.block) ? withLookUp(step, first.head.block) : keepFirst(step, at);
}

/**
 * Whether a head is higher than the last one, or replaces a block that was seen. One that was replaced itself comes
 * from a node that lags, unless higher ones follow it.
 */
function isWanted<H extends Headed>(state: HeadState<H>, { head: { block }, isRolledBack }: Candidate<H>): boolean {
  const last = lastHead(state)?.block;
  // The state may have gone back to the last head, which can be on another branch than the blocks that were seen.
  const isOther = block.number === last?.number && block.hash !== last.hash;
  // Timestamps never go back along a branch, so that a later one on top of fewer blocks is of another.
  const isLater = last !== undefined && block.number <= last.number && block.timestamp > last.timestamp;
  const replaces = (isOther || isLater || state.seen.hasOther(block)) && !state.seen.hasReplaced(block);
  return isRolledBack || !last || block.number > last.number || replaces;
}

/** Whether blocks below a head are to be looked up, down to one that was seen. */
const isParentMissing = (seen: ChainTail, block: BlockHeader): boolean =>
  !seen.meets(block) && block.number - seen.top <= MAX_LOOK_BACK && block.parents.length < MAX_LOOK_BACK;

function withLookUp<H>(step: Step<H>, { number, parents }: BlockHeader): Step<H> {
  const hash = parents.at(-1);
  const lookUp = hash ? { hash, number: number - BigInt(parents.length) } : null;
  return { ...step, effects: { ...step.effects, lookUp } };
}

/** Makes the first head that waits the next one to take, in place of any other. */
function keepFirst<H extends Headed>(step: Step<H>, at: number): Step<H> {
  const { state } = step;
  const [first] = state.waiting;
  if (!first) return step;
  const { head, dueAt } = first;
  const seen = state.seen.endingWith(head.block);
  return endFirst({ ...step, state: { ...state, behindSince: undefined, seen, next: { head, dueAt } } }, at);
}

/** Takes what is to be taken now that the first head is judged, ends its poll, and goes on with the other heads. */
function endFirst<H extends Headed>(step: Step<H>, at: number): Step<H> {
  const [first, ...waiting] = step.state.waiting;
  const ended = takeNext(step, at);
  const { state, effects, now, pace } = ended;
  if (!first?.isPolled) return judgeWaiting({ ...ended, state: { ...state, waiting } }, now);
  const isTaken = effects.taken.length > step.effects.taken.length;
  const dueAt = isTaken ? state.dueAt : Math.max(state.dueAt, state.polledAt + pace.minRefreshMs);
  const polled = state.current ?? first.head;
  const next = { ...state, waiting, dueAt, lastPollAt: state.polledAt, poll: undefined };
  return judgeWaiting({ ...ended, state: next, effects: { ...effects, polled } }, now);
}

/** Takes the next head if it is time to. One that nobody asked for until it was too old is left out. */
export function takeNext<H extends Headed>(step: Step<H>, at: number): Step<H> {
  const { state, effects, now, pace } = step;
  const { next, seen } = state;
  if (!next || at < takeAt(state, now, pace)) return step;
  if (at >= next.dueAt + GRACE_MS) {
    // A head that is not higher was seen to replace blocks of the current one. It is left out: they are not replaced.
    const isHigher = next.head.block.number > state.taken.top;
    return { ...step, state: { ...state, next: undefined, seen: isHigher ? seen : state.taken } };
  }
  const isEarly = state.current !== undefined && at < state.takenAt + pace.minRefreshMs;
  const head = { ...next.head, block: { ...next.head.block, parents: seen.parentsSince(state.taken) } };
  const taken = {
    ...state,
    next: undefined,
    previous: state.current,
    current: head,
    taken: seen,
    takenAt: at,
    earlyAt: isEarly ? at : state.earlyAt,
    dueAt: next.dueAt,
  };
  return { ...step, state: taken, effects: { ...effects, taken: [...effects.taken, { head, branch: seen }] } };
}

import { stateOf } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { isExhausted, SnapshotError } from '../snapshot-error.ts';
import { QUOTE_KINDS, type Snapshot } from '../types.ts';
import type { RequestedPool } from './requested-pools.ts';
import { isDone, isKept, NO_PROGRESS, progressAt, withOnly, withReads } from './warm-progress.ts';
import { resultOf } from './warm-result.ts';
import type { WarmEffects, WarmEvent, WarmRun, WarmState, WarmStep } from './warm-state.ts';

/** How often a tick is to come. */
export const TICK_MS = 500;
/** How often failed reads are retried at the same block, and an unreachable chain is tried again. */
const RETRY_MS = 5_000;

type Next = readonly [WarmState, WarmEffects];
type EventOf<K extends WarmEvent['kind']> = Extract<WarmEvent, { readonly kind: K }>;

const NOTHING: WarmEffects = { watch: null, results: [], step: null };
const withStep = (state: WarmState, step: WarmStep): Next => [state, { ...NOTHING, step }];

/**
 * What becomes of the reads of requested pools, and what there is to do, when something happens.
 *
 * 1. One run is in progress at most, with one step in progress. Of heads that come during a run,
 *    the next one reads only the newest.
 * 2. A pool that becomes requested during a run is read by the next one.
 * 3. A read that succeeded at a state is not pending there again, as long as results show it as requested.
 * 4. Heads are watched, and ticks come, only while pools are requested.
 * 5. A snapshot is reported only at its own block. After a provisional one its pool is read again.
 *
 * @param keepMs how long after its last read a pool that is not read is not reported
 */
export function nextWarm(state: WarmState, event: WarmEvent, now: number, keepMs: number): Next {
  switch (event.kind) {
    case 'head': {
      const { head, branch } = event;
      const after = { ...state, seen: { head, branch, seenAt: now } };
      return state.ticks === null ? [after, NOTHING] : due(after);
    }
    case 'requested':
      return due(state);
    case 'tick':
      return ticked(state, event, keepMs);
    case 'closed':
      return asleep({ ...state, isClosed: true });
    default:
      return state.run ? inRun(state, event, { now, keepMs, run: state.run }) : [state, NOTHING];
  }
}

interface InRun<R extends WarmRun = WarmRun> {
  readonly now: number;
  readonly keepMs: number;
  readonly run: R;
}

function inRun(state: WarmState, event: WarmEvent, { now, keepMs, run }: InRun): Next {
  if (event.kind === 'failed') return over(state);
  if (run.stage === 'locating') {
    if (event.kind === 'begun') return begun(state, event);
    if (event.kind === 'located') return located(state, event);
  } else if (run.stage === 'listing') {
    if (event.kind === 'listed') return listed(state, event, { now, keepMs, run });
  } else {
    if (event.kind === 'outcomes') return withOutcomes(state, event, { now, keepMs, run });
    if (event.kind === 'read') return withStep(state, endOf(run));
    if (event.kind === 'ended') return ended(state, event, { now, keepMs, run });
  }
  return [state, NOTHING];
}

/** Starts a run, or makes one follow that in progress. */
function due(state: WarmState): Next {
  if (state.isClosed) return [state, NOTHING];
  const after = { ...state, isDue: true };
  return state.run ? [after, NOTHING] : withStep({ ...after, run: { stage: 'locating' } }, { kind: 'begin' });
}

function over(state: WarmState): Next {
  const after = { ...state, run: null };
  return state.isDue ? due(after) : [after, NOTHING];
}

function ticked(state: WarmState, { isOutdated }: EventOf<'tick'>, keepMs: number): Next {
  if (state.ticks === null) return [state, NOTHING];
  const ticks = state.ticks + 1;
  const after = { ...state, ticks };
  // A run reports to clients at once that the head became too old.
  const hasLostHead = isOutdated && state.progress.state !== '';
  // Nothing else may come when the budget has calls again, or when a read that was kept becomes too old.
  const isRetryDue = keepMs > 0 && state.hasUndone;
  return hasLostHead || isRetryDue || (ticks * TICK_MS) % RETRY_MS === 0 ? due(after) : [after, NOTHING];
}

function asleep(state: WarmState): Next {
  const coverage = { requested: 0, unread: 0 };
  const after = { ...state, ticks: null, progress: NO_PROGRESS, hasUndone: false, coverage };
  return [after, { watch: false, results: [null], step: null }];
}

function begun(before: WarmState, { isRequested }: EventOf<'begun'>): Next {
  if (before.isClosed) return [{ ...before, run: null }, NOTHING];
  const state = { ...before, isDue: false };
  if (!isRequested) return asleep({ ...state, run: null });
  const watch = state.ticks === null ? true : null;
  return [
    { ...state, ticks: state.ticks ?? 0 },
    { ...NOTHING, watch, step: { kind: 'locate' } },
  ];
}

function located(state: WarmState, { newest }: EventOf<'located'>): Next {
  const { seen } = state;
  // A new head came as an event before.
  if (!seen) return over(state);
  const failure = newest instanceof SnapshotError ? newest : null;
  // Overrides of a block may be newer than those that were seen.
  const isSeen = !(newest instanceof SnapshotError) && newest.block.hash === seen.head.block.hash;
  const at = isSeen ? { ...seen, head: newest } : seen;
  const step = { kind: 'list', block: at.head.block, mayShare: failure === null } as const;
  return withStep({ ...state, isDue: false, run: { stage: 'listing', at, failure } }, step);
}

type Listing = Extract<WarmRun, { readonly stage: 'listing' }>;
type Reading = Extract<WarmRun, { readonly stage: 'reading' }>;

function listed(before: WarmState, { reads, isShared }: EventOf<'listed'>, { run, now }: InRun<Listing>): Next {
  const { at, failure } = run;
  const { head } = at;
  const progress = progressAt(before.progress, failure ? '' : stateOf(head.block));
  const pending = reads.filter((read) => !isDone(progress, read));
  const reading = { stage: 'reading', at, reads, pending, isShared } as const;
  const state = { ...before, progress, run: reading };
  if (failure) {
    const results = QUOTE_KINDS.map((kind) => resultOf({ ...at, kind, readyAt: now }, reads, () => failure));
    return [state, { watch: null, results, step: endOf(reading) }];
  }
  if (progress === before.progress && pending.length === 0) return withStep(state, endOf(reading));
  return withStep({ ...state, progress: withOnly(progress, reads) }, { kind: 'read', head, reads, pending });
}

const endOf = ({ at, reads, isShared }: Reading): WarmStep => ({ kind: 'end', block: at.head.block, reads, isShared });

function withOutcomes(
  before: WarmState,
  { of: kind, outcomes }: EventOf<'outcomes'>,
  { run: { at, reads, pending }, now, keepMs }: InRun<Reading>,
): Next {
  const { block } = at.head;
  const isOfBlock = (outcome: Snapshot | SnapshotError | undefined): outcome is Snapshot =>
    outcome !== undefined && !(outcome instanceof SnapshotError) && outcome.block.hash === block.hash;
  const made = pending.flatMap((read) => {
    const outcome = read.kind === kind ? outcomes.get(read.address) : undefined;
    return isOfBlock(outcome) ? [{ read, snapshot: outcome }] : [];
  });
  const progress = withReads(before.progress, made, before.progress.state === stateOf(block), now);
  const keeping = { keepMs, block, now, isSuperseded: before.isDue };
  const isPending = new Set(pending);
  const result = resultOf({ ...at, kind, readyAt: now }, reads, (read) => {
    if (!isPending.has(read)) return undefined;
    const outcome = outcomes.get(read.address);
    if (isOfBlock(outcome)) return outcome;
    const error = outcome instanceof SnapshotError && !isExhausted(outcome) ? outcome : notRead();
    return mayRetry(error) && isKept(progress, read, keeping) ? undefined : error;
  });
  return [
    { ...before, progress },
    { ...NOTHING, results: [result] },
  ];
}

const notRead = () => new SnapshotError('timed_out', 'the pool was not read at this block');
/** Whether it is the chain, not the pool, that gave no snapshot. */
const mayRetry = ({ code, cause }: SnapshotError): boolean => code === 'timed_out' || cause instanceof RpcFailure;

function ended(state: WarmState, { ahead }: EventOf<'ended'>, { run, now, keepMs }: InRun<Reading>): Next {
  const { progress, isDue } = state;
  const keeping = { keepMs, block: run.at.head.block, now, isSuperseded: isDue };
  const undone = ahead.filter((read) => !isDone(progress, read));
  const unread = undone.filter((read) => !isKept(progress, read, keeping));
  const coverage = { requested: poolCount(ahead), unread: poolCount(unread) };
  return over({ ...state, hasUndone: undone.length > 0, coverage });
}

const poolCount = (of: readonly RequestedPool[]): number => new Set(of.map(({ address }) => address)).size;

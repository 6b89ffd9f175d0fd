import type { Address } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { CallBudget, ReadClass } from '../../chain/read-schedule/call-budget.ts';
import { type Backlog, type ReadOutcome, ReadScheduler } from '../../chain/read-schedule/read-scheduler.ts';
import {
  type BoundedAnswer,
  type BoundedCall,
  type BoundedResult,
  CALL_GAS_CAP,
} from '../../protocol/bounded-calls/bounded-calls.ts';
import { type GroupAnswer, groupAnswers, packBoundedCalls } from '../../protocol/bounded-calls/run-bounded-calls.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type CaptureClass, type KnownPool, scheduledPools } from './pool-values.ts';

/** What scheduled reads of the pools of a chain need. */
export interface PoolSchedule<K = KnownPool> {
  readonly chainId: number;
  readonly budget: CallBudget;
  /** The nodes for each class, with separate circuit breakers: untrusted pools must not open those of funded ones. */
  readonly rpcs: Readonly<Record<CaptureClass, ChainRpc>>;
  /** Gives the pools of the chain, as another array when they changed. */
  readonly pools: () => Promise<readonly K[]>;
  readonly now: Clock;
}

/** How pools are read on a schedule. */
export interface PoolReads<P, A extends BoundedAnswer> {
  readonly scheduler: ReadScheduler<P>;
  readonly budget: CallBudget;
  readonly now: Clock;
  /** Gives the calls of a pool, which are sent in the same `eth_call`. */
  readonly callsOf: (pool: P) => readonly BoundedCall[];
  /** Sends one `eth_call`. */
  readonly send: (calls: readonly BoundedCall[]) => Promise<A>;
  /**
   * Stores what was read.
   *
   * @returns the outcome of each pool; `gas` is what it took besides these calls. Null where nothing was found out: the
   * pool has its turn again after the others, and its age grows
   */
  readonly store: (results: readonly PoolResults<P, A>[]) => Promise<readonly (ReadOutcome | null)[]>;
}

/** Results of the calls of a pool. */
export interface PoolResults<P, A> {
  readonly pool: P;
  readonly results: readonly BoundedResult[];
  /** Answer of the whole `eth_call`. */
  readonly answer: A;
}

/** An `eth_call` with the calls of some pools. */
interface CallGroup<P> {
  readonly pools: readonly P[];
  readonly groups: readonly (readonly BoundedCall[])[];
}

/** Per class and kind of read: a node must not read a thousand pools at once. */
const MAX_CONCURRENT_CALLS = 2;
/** More pools than a call holds. */
const POOLS_PER_CALL = 200;
/**
 * Gas planned for a read, relative to its last one. A read that takes more may leave others of its call to the next.
 */
const LIKELY_GROWTH = 1.25;

/**
 * Makes a function that reads the due pools of a class, as {@link readDuePools}, with its own schedule.
 *
 * @param takePools called when the pools changed; gives those of them that are read
 * @param onRun called after each run with what is left to read in the class
 */
export function createPoolReads<K, P extends Pick<KnownPool, 'address' | 'isFunded'>, A extends BoundedAnswer>(
  { budget, pools, now }: PoolSchedule<K>,
  takePools: (pools: readonly K[]) => Promise<readonly P[]>,
  readsOf: (kind: CaptureClass) => Pick<PoolReads<P, A>, 'callsOf' | 'send' | 'store'>,
  onRun?: (kind: CaptureClass, backlog: Backlog) => void,
): (kind: CaptureClass) => Promise<number> {
  const scheduler = new ReadScheduler<P>(now);
  let known: readonly K[] | undefined;
  return async (kind) => {
    const begun = now();
    const list = await pools();
    if (list !== known) scheduler.set(scheduledPools(await takePools(list)));
    known = list;
    try {
      return await readDuePools(kind, { scheduler, budget, now, ...readsOf(kind) });
    } finally {
      onRun?.(kind, scheduler.backlog(kind, begun));
    }
  };
}

/**
 * Reads the due pools of a class, each at most once, while the budget has calls. When other pools of its call burned
 * the gas before a pool was begun, the next call reads it.
 *
 * @returns number of pools read
 * @throws the first error of the nodes or the database
 */
export async function readDuePools<P extends { readonly address: Address }, A extends BoundedAnswer>(
  kind: ReadClass,
  reads: PoolReads<P, A>,
): Promise<number> {
  const begun = reads.now();
  let read = 0;
  for (let calls = nextCalls(kind, begun, reads); calls.length > 0; calls = nextCalls(kind, begun, reads)) {
    const outcomes = await Promise.allSettled(calls.map((call) => makeCall(call, reads)));
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason;
      read += outcome.value;
    }
  }
  return read;
}

/** Packs the next calls of a class, in the order of turns, by the gas that the last read of each pool took. */
function nextCalls<P extends { readonly address: Address }, A extends BoundedAnswer>(
  kind: ReadClass,
  since: number,
  { scheduler, budget, callsOf }: PoolReads<P, A>,
): CallGroup<P>[] {
  const due = scheduler.due(kind, since, MAX_CONCURRENT_CALLS * POOLS_PER_CALL);
  const groups = due.map((pool) => likelyCalls(callsOf(pool), scheduler.gasOf(pool.address)));
  return packBoundedCalls(groups, ({ likelyGas }) => likelyGas)
    .slice(0, MAX_CONCURRENT_CALLS)
    .filter(() => budget.reserve(kind))
    .map((chunk) => ({ groups: chunk, pools: due.splice(0, chunk.length) }));
}

function likelyCalls(calls: readonly BoundedCall[], lastGas: number | null): readonly BoundedCall[] {
  if (lastGas === null) return calls;
  return calls.map((call, index) => ({ ...call, likelyGas: index === 0 ? lastGas * LIKELY_GROWTH : 0 }));
}

/** Sends one `eth_call` and stores its results. @returns number of pools read */
async function makeCall<P extends { readonly address: Address }, A extends BoundedAnswer>(
  { pools, groups }: CallGroup<P>,
  { scheduler, send, store }: PoolReads<P, A>,
): Promise<number> {
  const answer = await send(groups.flat()).catch((error) => {
    // These pools may be why the node did not answer: others have their turn first.
    for (const { address } of pools) scheduler.postpone(address);
    throw error;
  });
  const answers = groupAnswers(groups, answer);
  const read = pools.flatMap((pool, index) => {
    const results = answers[index]?.results;
    return results ? [{ pool, results, answer }] : [];
  });
  // No other pool burned the gas before the first: the node gives less gas than this pool may take.
  const [first] = pools;
  if (first && !answers[0]) scheduler.record(first.address, { gas: Number(CALL_GAS_CAP), isFailed: true });
  const outcomes = await store(read);
  for (const [index, { pool, results }] of read.entries()) {
    const outcome = outcomes[index];
    if (outcome) scheduler.record(pool.address, { ...outcome, gas: outcome.gas + gasUsedBy(results) });
    else scheduler.postpone(pool.address);
  }
  return read.length;
}

/**
 * Runs groups of calls while the budget of a class has calls.
 *
 * @returns null for a group that was not begun, since the budget or the gas of its call was exhausted
 */
export async function runWithinBudget(
  kind: ReadClass,
  groups: readonly (readonly BoundedCall[])[],
  { budget, send }: Pick<PoolReads<never, BoundedAnswer>, 'budget' | 'send'>,
): Promise<(GroupAnswer | null)[]> {
  const answers: (GroupAnswer | null)[] = [];
  for (const chunk of packBoundedCalls(groups, ({ likelyGas }) => likelyGas)) {
    if (!budget.reserve(kind)) break;
    answers.push(...groupAnswers(chunk, await send(chunk.flat())));
  }
  return groups.map((_, index) => answers[index] ?? null);
}

/** Gas of some calls. */
export const gasUsedBy = (results: readonly BoundedResult[]): number =>
  results.reduce((sum, { gasUsed }) => sum + gasUsed, 0);

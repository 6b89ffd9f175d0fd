import type { PaidCall, ReadBudget, ReadClass } from '../../chain/read-budget/read-budget.ts';
import {
  answerBytes,
  type BoundedAnswer,
  type BoundedCall,
  type BoundedResult,
  CALL_GAS_CAP,
  callBytes,
} from '../../protocol/bounded-calls/bounded-calls.ts';
import {
  GAS_PER_CALL,
  type GroupAnswer,
  groupAnswers,
  OVERHEAD_GAS,
  packBoundedCalls,
} from '../../protocol/bounded-calls/run-bounded-calls.ts';
import type { PoolOutcome, PoolSchedule, PoolWithWorth } from './pool-schedule.ts';

/** How pools are read in rounds. */
export interface RoundDeps<P extends PoolWithWorth, A extends BoundedAnswer> {
  readonly schedule: PoolSchedule<P>;
  readonly budget: ReadBudget;
  /** Calls on their way at a time. */
  readonly callsAtOnce: number;
  /** The calls of a pool, which stay together. */
  readonly callsOf: (pool: P) => readonly BoundedCall[];
  /** Sends one `eth_call` with this much gas. */
  readonly send: (kind: ReadClass, calls: readonly BoundedCall[], gas: bigint) => Promise<A>;
  /** Takes what was read. @returns how it went for each, beside the gas of its calls */
  readonly store: (readings: readonly PoolReading<P, A>[], kind: ReadClass) => Promise<readonly PoolOutcome[]>;
}

export interface PoolReading<P, A> {
  readonly pool: P;
  readonly results: readonly BoundedResult[];
  /** Of the whole call. */
  readonly answer: A;
}

/** An `eth_call` that is paid for. */
interface PaidGroups {
  readonly groups: readonly (readonly BoundedCall[])[];
  readonly gas: number;
  readonly paid: PaidCall;
}

type PlannedCall<P> = PaidGroups & { readonly pools: readonly P[] };

/** More pools than a call holds. */
const POOLS_PER_CALL = 200;
/** A reading may take this much more than the last one did before others of its call are left for the next. */
const LIKELY_GROWTH = 1.25;
/** Gas of an `eth_call` beside its calls: any must have its limit, and code and answer are paid for by the byte. */
const CALL_GAS = { rest: 6_500_000, perByte: 40, perAnswerByte: 250 };

/**
 * Reads the pools of these classes whose turn it is, as far as the budget pays for them, each at most once. Pools of
 * different classes never share a call. A pool that was not begun, since others of its call burned the gas, is read by the
 * next call.
 *
 * @param now milliseconds of the schedule's clock
 * @returns number of pools read
 * @throws the first error of the nodes or the database, after every class had its turn
 */
export async function readRound<P extends PoolWithWorth, A extends BoundedAnswer>(
  kinds: readonly ReadClass[],
  now: number,
  deps: RoundDeps<P, A>,
): Promise<number> {
  const failures: unknown[] = [];
  let read = 0;
  for (const kind of kinds) {
    for (let isOver = false; !isOver; ) {
      const calls = planCalls(kind, now, deps);
      const outcomes = await Promise.allSettled(calls.map((call) => makeCall(kind, call, deps)));
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') read += outcome.value;
        else failures.push(outcome.reason);
      }
      isOver = calls.length === 0 || outcomes.some(({ status }) => status === 'rejected');
    }
  }
  if (failures.length > 0) throw failures[0];
  return read;
}

/** The next calls of a class, in order, as far as the budget pays for them. */
function planCalls<P extends PoolWithWorth, A extends BoundedAnswer>(
  kind: ReadClass,
  since: number,
  { schedule, budget, callsAtOnce, callsOf }: RoundDeps<P, A>,
): PlannedCall<P>[] {
  const mostGas = Math.min(GAS_PER_CALL, budget.gasLeft(kind) - CALL_GAS.rest);
  if (mostGas <= 0) return [];
  const due = schedule.due(kind, since, callsAtOnce * POOLS_PER_CALL);
  const groups = due.map((pool) => likelyCalls(callsOf(pool), schedule.gasOf(pool)));
  const planned: PlannedCall<P>[] = [];
  for (const chunk of packBoundedCalls(groups, ({ likelyGas }) => likelyGas, mostGas).slice(0, callsAtOnce)) {
    const call = payFor(kind, chunk, budget);
    if (!call) break;
    planned.push({ pools: due.splice(0, chunk.length), ...call });
  }
  return planned;
}

/** Pays for a call of these groups; null when the budget does not even pay for the first of them. */
function payFor(kind: ReadClass, groups: PaidGroups['groups'], budget: ReadBudget): PaidGroups | null {
  const gas = Math.floor(Math.min(gasOf(groups), Number(CALL_GAS_CAP), budget.gasLeft(kind)));
  const paid = gas < gasOf(groups.slice(0, 1)) ? null : budget.pay(kind, gas);
  return paid && { groups, gas, paid };
}

/** Makes a call and gives back what it did not use. @throws errors of the node, when all of it counts */
async function sendPaid<A extends BoundedAnswer>(
  kind: ReadClass,
  { groups, gas, paid }: PaidGroups,
  send: RoundDeps<PoolWithWorth, A>['send'],
): Promise<A> {
  try {
    const answer = await send(kind, groups.flat(), BigInt(gas));
    paid.settle(overheadOf(groups) + gasUsedBy(answer.results));
    return answer;
  } catch (error) {
    paid.settle();
    throw error;
  }
}

/** Gas of an `eth_call` with these groups. */
function gasOf(groups: readonly (readonly BoundedCall[])[]): number {
  const likely = groups.flat().reduce((sum, { likelyGas }) => sum + likelyGas, 0);
  return Math.ceil(likely + overheadOf(groups) + CALL_GAS.rest);
}

/** By the pool's last reading, when there is one. */
function likelyCalls(calls: readonly BoundedCall[], lastGas: number | null): readonly BoundedCall[] {
  if (lastGas === null) return calls;
  return calls.map((call, index) => ({ ...call, likelyGas: index === 0 ? lastGas * LIKELY_GROWTH : 0 }));
}

/** Gas of the calls' packing. */
function overheadOf(groups: readonly (readonly BoundedCall[])[]): number {
  return groups
    .flat()
    .reduce(
      (sum, call) =>
        sum + OVERHEAD_GAS + callBytes(call) * CALL_GAS.perByte + answerBytes(call) * CALL_GAS.perAnswerByte,
      0,
    );
}

/** @returns number of pools read */
async function makeCall<P extends PoolWithWorth, A extends BoundedAnswer>(
  kind: ReadClass,
  { pools, ...call }: PlannedCall<P>,
  { schedule, send, store }: RoundDeps<P, A>,
): Promise<number> {
  const { groups, gas } = call;
  const answer = await sendPaid(kind, call, send).catch((error) => {
    // These may be why the node did not answer: others have their turn first.
    for (const pool of pools) schedule.postpone(pool);
    throw error;
  });
  const answers = groupAnswers(groups, answer);
  const readings = pools.flatMap((pool, index) => {
    const results = answers[index]?.results;
    return results ? [{ pool, results, answer }] : [];
  });
  // Nothing was before the first: the node gives less gas than it may take.
  const [first] = pools;
  if (first && !answers[0]) schedule.record(first, { gas, isFailed: true });
  const outcomes = await store(readings, kind);
  for (const [index, { pool, results }] of readings.entries()) {
    const { gas: more, isFailed } = outcomes[index] ?? { gas: 0, isFailed: true };
    schedule.record(pool, { gas: gasUsedBy(results) + more, isFailed });
  }
  return readings.length;
}

/**
 * Runs groups of calls as far as the budget of a class pays for them; those that were not begun, since others burned the gas,
 * go once more, as many at once as can all burn what they may.
 *
 * @returns null for a group that was not paid for or not begun
 */
export async function paidCalls(
  kind: ReadClass,
  groups: readonly (readonly BoundedCall[])[],
  deps: Pick<RoundDeps<PoolWithWorth, BoundedAnswer>, 'budget' | 'send'>,
): Promise<(GroupAnswer | null)[]> {
  const likely = await paidPass(kind, groups, deps);
  const open = groups.filter((_, index) => likely[index] === null);
  const certain = await paidPass(kind, open.map(atTheirLimits), deps);
  return likely.map((answer) => answer ?? certain.shift() ?? null);
}

const atTheirLimits = (calls: readonly BoundedCall[]): BoundedCall[] =>
  calls.map((call) => ({ ...call, likelyGas: Math.ceil((call.gasLimit * 25) / 24) }));

async function paidPass(
  kind: ReadClass,
  groups: readonly (readonly BoundedCall[])[],
  { budget, send }: Pick<RoundDeps<PoolWithWorth, BoundedAnswer>, 'budget' | 'send'>,
): Promise<(GroupAnswer | null)[]> {
  const answers: (GroupAnswer | null)[] = [];
  for (const chunk of packBoundedCalls(groups, ({ likelyGas }) => likelyGas)) {
    const call = payFor(kind, chunk, budget);
    if (!call) break;
    answers.push(...groupAnswers(chunk, await sendPaid(kind, call, send)));
  }
  return groups.map((_, index) => answers[index] ?? null);
}

const gasUsedBy = (results: readonly (BoundedResult | null)[]): number =>
  results.reduce((sum, result) => sum + (result?.gasUsed ?? 0), 0);

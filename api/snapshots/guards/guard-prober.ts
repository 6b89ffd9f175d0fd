import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import type { BlockRef } from '../../../chain/chain-rpc.ts';
import { boundedCalls, boundedCallsOnce } from '../../../chain/isolated-calls.ts';
import type { MulticallTarget } from '../../../chain/multicall.ts';
import { RpcFailure } from '../../../chain/rpc-failure.ts';
import type { SwapOutcome } from '../../../protocol/curve.ts';
import type { StopLossState } from '../../../protocol/guards/stop-loss.ts';
import type { LazyCurve } from '../../../protocol/layout.ts';
import type { ServedPool } from '../pool-directory.ts';
import { SnapshotError } from '../types.ts';
import { guardPlan } from './guard-plan.ts';
import { everyBin, limitOf, type ProbedInput, pointsBetween, withinBudget } from './probe-points.ts';
import { claimSide, confirmClaim, type ExecutableLevels, executableLevels } from './side-claim.ts';
import { type GuardedSide, likelyGasOf, simulatedSwap } from './simulated-swap.ts';
import { readStopLosses } from './stop-loss-reader.ts';

/** A guarded pool whose curve is known. */
export interface GuardJob {
  readonly pool: ServedPool;
  readonly curve: LazyCurve;
}

/** The part of each side that the guards let trade; null for a side that they close. */
export interface GuardedSides {
  readonly bids: ExecutableLevels;
  readonly asks: ExecutableLevels;
}

/** Told of each pool whose guards did not do what their state says. */
export type CountDisagreement = (pool: Address) => void;

/** What one side of a pool with an unknown extension may cost. */
const UNKNOWN_SIDE = { gas: 44_000_000, probes: 140 };
/** When every bin is probed, the one that is cut is searched this finely, with so many inputs at a time. */
const SEARCH = { precision: 1_000_000n, inputs: 15n, rounds: 6 };
/** How long pools whose guards burn all the gas are left alone, and of how many that is remembered. */
const BURNED = { ttl: 60_000, max: 10_000 };
const CLOSED: GuardedSides = { bids: null, asks: null };

type Sides<T> = readonly [bids: T, asks: T];
type Entry = readonly [Address, GuardedSides | Error];

/**
 * Finds how far the guards of pools let each side trade. Known guards are evaluated from their state, and the chain confirms
 * the end; where it does not, and for unknown extensions, points of the side are simulated.
 */
export class GuardProber {
  readonly #target: MulticallTarget;
  readonly #countDisagreement: CountDisagreement;
  /** Such a pool costs what a thousand honest ones do: not with every block. */
  readonly #burnedOut = new LRUCache<Address, true>(BURNED);

  constructor(target: MulticallTarget, countDisagreement: CountDisagreement) {
    this.#target = target;
    this.#countDisagreement = countDisagreement;
  }

  /**
   * @returns an entry for each job: the reason when its guards gave no answer
   * @throws RpcFailure when the nodes did not give the state of known guards
   */
  async probe(
    block: BlockRef,
    jobs: readonly GuardJob[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<Address, GuardedSides | Error>> {
    const isKnown = ({ pool }: GuardJob) => guardPlan(pool).kind === 'evaluated';
    const unknown = jobs.filter((job) => !isKnown(job));
    const entries = await Promise.all([
      this.#evaluateAll(block, jobs.filter(isKnown), signal),
      ...unknown.map((job) => entryOf(job, this.#probeUnknown(block, job, signal)).then((entry) => [entry])),
    ]);
    return new Map(entries.flat());
  }

  async #evaluateAll(block: BlockRef, jobs: readonly GuardJob[], signal?: AbortSignal): Promise<Entry[]> {
    const watched = jobs.flatMap(({ pool }) => {
      const plan = guardPlan(pool);
      return plan.kind === 'evaluated' && plan.stopLoss ? [{ pool, stopLoss: plan.stopLoss }] : [];
    });
    const states = await readStopLosses(this.#target, block, watched, signal);
    const confirmed = await this.#confirmAll(block, jobs, states, signal);
    return Promise.all(
      jobs.map((job, index) => {
        const sides = confirmed[index] ?? 'disagrees';
        if (sides !== 'disagrees') return [job.pool.address, sides] as const;
        this.#countDisagreement(job.pool.address);
        return entryOf(job, this.#probeEveryBin(block, job, signal));
      }),
    );
  }

  /** What the guards' state says of each pool, where the chain bears it out. */
  async #confirmAll(
    block: BlockRef,
    jobs: readonly GuardJob[],
    states: ReadonlyMap<Address, StopLossState | null>,
    signal?: AbortSignal,
  ): Promise<(GuardedSides | 'disagrees')[]> {
    const claims = jobs.map((job) => {
      const state = states.get(job.pool.address);
      return bothSides(job).map((side) => claimSide(side, state ?? null));
    });
    const asked = claims.flat().flatMap(({ side, inputs }) => inputs.map((input) => ({ side, input })));
    const outcomes = await this.#outcomes(block, asked, signal);
    return claims.map((sides, index) => {
      const [bids, asks] = sides.map((claim) => confirmClaim(claim, outcomes.splice(0, claim.inputs.length)));
      const isStopLoss = states.get(jobs[index]?.pool.address as Address) !== null;
      const agrees =
        isStopLoss && bids !== undefined && bids !== 'disagrees' && asks !== undefined && asks !== 'disagrees';
      return agrees ? { bids, asks } : 'disagrees';
    });
  }

  async #probeEveryBin(block: BlockRef, job: GuardJob, signal?: AbortSignal): Promise<GuardedSides> {
    const [bids, asks] = await Promise.all(bothSides(job).map((side) => this.#search(block, side, signal)));
    return { bids: bids ?? null, asks: asks ?? null };
  }

  /** Every bin, then ever more finely between the last input that fills and the first that does not. */
  async #search(block: BlockRef, side: GuardedSide, signal?: AbortSignal): Promise<ExecutableLevels> {
    let limit = limitOf(side, await this.#simulate(block, side, everyBin(side), signal));
    const width = limit?.beyond ? limit.beyond - limit.most : 0n;
    for (let round = 0; round < SEARCH.rounds && limit?.beyond && limit.most > 0n; round++) {
      const [low, high]: Sides<bigint> = [limit.most, limit.beyond];
      if (high - low <= 1n || (high - low) * SEARCH.precision <= width) break;
      const between = await this.#simulate(block, side, pointsBetween(low, high, SEARCH.inputs), signal);
      const ends: Sides<ProbedInput> = [
        { input: low, outcome: 'fills' },
        { input: high, outcome: 'refused' },
      ];
      limit = limitOf(side, [ends[0], ...between, ends[1]]);
    }
    return executableLevels(side.side, limit);
  }

  async #simulate(
    block: BlockRef,
    side: GuardedSide,
    inputs: readonly bigint[],
    signal?: AbortSignal,
  ): Promise<ProbedInput[]> {
    const asked = inputs.map((input) => ({ side, input }));
    const outcomes = await this.#outcomes(block, asked, signal);
    return inputs.map((input, index) => ({ input, outcome: outcomes[index] ?? 'silence' }));
  }

  /** How simulated swaps end, in order; one that the node gives too little gas for ends in silence. */
  async #outcomes(
    block: BlockRef,
    asked: readonly { readonly side: GuardedSide; readonly input: bigint }[],
    signal?: AbortSignal,
  ): Promise<SwapOutcome[]> {
    const groups = asked.map(({ side, input }) => [simulatedSwap(side, input, 'known')]);
    const answers = await boundedCalls(this.#target, block, groups, signal);
    return asked.map(({ side: { side } }, index) => {
      const [result] = answers[index]?.results ?? [];
      return result ? side.swapOutcome(result) : 'silence';
    });
  }

  /** One call a side, whatever the extension does. */
  async #probeUnknown(block: BlockRef, job: GuardJob, signal?: AbortSignal): Promise<GuardedSides> {
    const { address } = job.pool;
    if (this.#burnedOut.has(address)) return CLOSED;
    const [bids, asks] = await Promise.all(bothSides(job).map((side) => this.#probeOnce(block, side, signal)));
    if (!bids || !asks) return CLOSED;
    if ([bids, asks].every(isBurnedOut)) this.#burnedOut.set(address, true);
    const [bidSide, askSide] = bothSides(job);
    return {
      bids: executableLevels(bidSide.side, limitOf(bidSide, bids)),
      asks: executableLevels(askSide.side, limitOf(askSide, asks)),
    };
  }

  async #probeOnce(block: BlockRef, side: GuardedSide, signal?: AbortSignal): Promise<ProbedInput[]> {
    const inputs = withinBudget(side, UNKNOWN_SIDE, (input) => likelyGasOf(side.side, input));
    const swaps = inputs.map((input) => simulatedSwap(side, input, 'unknown'));
    const { results } = await boundedCallsOnce(this.#target, block, swaps, signal, BigInt(UNKNOWN_SIDE.gas));
    if (!results[0])
      throw new SnapshotError('read_failed', `the node gives too little gas to ask ${side.pool.address}`);
    return inputs.map((input, index) => {
      const result = results[index];
      return { input, outcome: result ? side.side.swapOutcome(result) : null };
    });
  }
}

/** Not even one unit fills, and to find out took the gas that many probes would have had. */
const isBurnedOut = (probed: readonly ProbedInput[]): boolean =>
  probed[0]?.outcome !== 'fills' && probed.some(({ outcome }) => outcome === null);

function bothSides({ pool, curve }: GuardJob): Sides<GuardedSide> {
  const { bids, asks } = curve();
  return [
    { pool, side: bids },
    { pool, side: asks },
  ];
}

/** A pool whose probes failed has its own failure: others are not held up by it. */
async function entryOf({ pool }: GuardJob, sides: Promise<GuardedSides>): Promise<Entry> {
  try {
    return [pool.address, await sides];
  } catch (error) {
    if (error instanceof SnapshotError) return [pool.address, error];
    if (!(error instanceof RpcFailure)) throw error;
    return [pool.address, new SnapshotError('read_failed', 'the guards of a pool gave no answer', { cause: error })];
  }
}

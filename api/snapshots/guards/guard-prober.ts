import type { Address } from 'viem';
import { type Depth, type DepthLevel, levelAtInput, type SideCurve } from '../../../protocol/depth.ts';
import { decodeSimulation } from '../../../protocol/quote-status.ts';
import type { PoolCurve } from '../curve-snapshot.ts';
import { type CallResult, CHUNK_GAS, type ContractCall, type MulticallTarget, multicall } from '../rpc/multicall.ts';
import type { BlockRef } from '../types.ts';
import { type Question, SideSearch } from './side-search.ts';

/** A guarded pool whose curve is known. */
export interface GuardJob {
  readonly pool: Address;
  readonly curve: PoolCurve;
}

/** The part of each side that the guards let trade; null for a side that they close. */
export interface GuardedSides {
  readonly bids: Depth['bids'] | null;
  readonly asks: Depth['asks'] | null;
}

/** Upper estimate of a simulated swap: a base, and what each bin walked through adds, guards included. */
const GAS = { base: 150_000, perBin: 16_000 };
const PROBES_PER_SIDE = { least: 4, most: 64 };
/** Rounds that a search can need at the fewest probes a round, and some. */
const MOST_ROUNDS = 16;

interface SideJob {
  readonly job: GuardJob;
  readonly side: SideCurve;
  readonly search: SideSearch;
}

/** Asks the guards of pools by simulated swaps: the chain itself is the judge. The searches of all pools share calls. */
export class GuardProber {
  readonly #target: MulticallTarget;

  constructor(target: MulticallTarget) {
    this.#target = target;
  }

  /**
   * @returns an entry for each job
   * @throws RpcFailure
   */
  async probe(
    block: BlockRef,
    jobs: readonly GuardJob[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<Address, GuardedSides>> {
    const sides = jobs.flatMap((job) => sideJobs(job));
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const open = sides.filter(({ search }) => !search.done);
      if (open.length === 0) break;
      await this.#round(block, open, signal);
    }
    return new Map(jobs.map((job) => [job.pool, guardedSides(sides.filter((side) => side.job === job))]));
  }

  async #round(block: BlockRef, sides: readonly SideJob[], signal: AbortSignal | undefined): Promise<void> {
    const count = probesPerSide(sides);
    const groups = sides.map((side) => side.search.next(count).map((question) => this.#probeCall(side, question)));
    const results = await multicall(this.#target, block, groups, undefined, signal);
    sides.forEach(({ search }, index) => {
      search.report((results[index] ?? []).map(trades));
    });
  }

  #probeCall({ job, side }: SideJob, { amount, bins }: Question): ContractCall {
    const { duty, quote } = job.curve;
    const probe = { zeroForOne: side.zeroForOne, amountSpecified: amount };
    return {
      target: job.pool,
      data: duty.encodeSimulation(probe, quote, this.#target.multicall3),
      gas: gasOf(bins),
    };
  }
}

function sideJobs(job: GuardJob): SideJob[] {
  const { bids, asks } = job.curve.sides();
  return [bids, asks].map((side) => ({ job, side, search: new SideSearch(side.levels) }));
}

const gasOf = (bins: number): number => GAS.base + bins * GAS.perBin;

/** As many probes as one call holds, shared evenly. */
function probesPerSide(sides: readonly SideJob[]): number {
  const gasOfOneEach = sides.reduce((sum, { search }) => sum + gasOf(search.binsPerAmount), 0);
  const affordable = Math.floor(CHUNK_GAS / gasOfOneEach);
  return Math.min(PROBES_PER_SIDE.most, Math.max(PROBES_PER_SIDE.least, affordable));
}

/** A simulation that ran through, even for nothing, was not refused; neither was an amount too small to count. */
function trades({ data }: CallResult): boolean {
  const { kind } = decodeSimulation(data);
  return kind === 'simulated' || kind === 'invalidAmount';
}

function guardedSides([bids, asks]: readonly SideJob[]): GuardedSides {
  return { bids: bids ? executableLevels(bids) : null, asks: asks ? executableLevels(asks) : null };
}

function executableLevels({ side, search }: SideJob): readonly DepthLevel[] | null {
  const executable = search.result();
  if (executable.kind === 'whole') return side.levels;
  if (executable.kind === 'closed') return null;
  const whole = side.levels.slice(0, executable.levels);
  const partial = executable.partialInput === null ? null : levelAtInput(side, executable.partialInput);
  return partial ? [...whole, partial] : whole;
}

import type { Address } from 'viem';
import type { Depth } from '../../../protocol/depth.ts';
import type { PoolCurve } from '../curve-snapshot.ts';
import type { MulticallTarget } from '../rpc/multicall.ts';
import { type BlockRef, SnapshotError } from '../types.ts';
import { runGuardSearch, type SearchTask, taskBytes } from './guard-search.ts';
import { executableLevels, type Found, NOTHING_FOUND, type SideJob, STEPS_PER_BIN, sideJob } from './side-job.ts';

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

/** Likely gas of a simulation. What a call leaves undone the next one does, so it need not be a bound. */
const LIKELY_GAS = { base: 150_000, perBin: 35_000 };
const GAS_PER_CALL = 44_000_000;
/** Creation code is bounded by the protocol to 49,152 bytes. */
const BYTES_PER_CALL = 44_000;
/** Answers are charged by the byte. */
const TASKS_PER_CALL = 64;
/** More than the worst search takes, a single simulation per call. */
const MOST_ROUNDS = 32;

/**
 * Asks the guards of pools by simulated swaps: the chain itself is the judge. The searches of all pools share calls and run
 * inside them, so that an answer needs no round trip to lead to the next question.
 */
export class GuardProber {
  readonly #target: MulticallTarget;

  constructor(target: MulticallTarget) {
    this.#target = target;
  }

  /**
   * @returns an entry for each job
   * @throws RpcFailure when the nodes failed, SnapshotError when searches come to no end
   */
  async probe(
    block: BlockRef,
    jobs: readonly GuardJob[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<Address, GuardedSides>> {
    const sides = jobs.flatMap(({ pool, curve }) => {
      const { bids, asks } = curve.sides();
      return [sideJob(pool, curve, bids), sideJob(pool, curve, asks)];
    });
    const found = await this.#search(block, sides, signal);
    const levelsOf = (index: number) => {
      const side = sides[index];
      return side ? executableLevels(side, found.get(side) ?? NOTHING_FOUND) : null;
    };
    return new Map(jobs.map(({ pool }, index) => [pool, { bids: levelsOf(2 * index), asks: levelsOf(2 * index + 1) }]));
  }

  async #search(
    block: BlockRef,
    sides: readonly SideJob[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<SideJob, Found>> {
    const found = new Map<SideJob, Found>();
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const open = sides
        .map((job) => ({ job, known: found.get(job) ?? NOTHING_FOUND }))
        .filter(({ known }) => !known.done);
      if (open.length === 0) return found;
      await Promise.all(
        chunkTasks(open).map(async (tasks) => {
          const results = await runGuardSearch(this.#target, block, tasks, signal);
          results.forEach((result, index) => {
            const task = tasks[index];
            if (task) found.set(task.job, result);
          });
        }),
      );
    }
    throw new SnapshotError('read_failed', `guards of ${sides[0]?.pool} and others gave no answer`);
  }
}

/** Cuts tasks into calls, in order, by size and by the gas that they are likely to take. */
function chunkTasks(tasks: readonly SearchTask[]): SearchTask[][] {
  const chunks: SearchTask[][] = [];
  let gas = Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (const task of tasks) {
    gas += likelyGas(task);
    bytes += taskBytes(task);
    const chunk = chunks.at(-1);
    if (chunk && gas <= GAS_PER_CALL && bytes <= BYTES_PER_CALL && chunk.length < TASKS_PER_CALL) {
      chunk.push(task);
    } else {
      chunks.push([task]);
      gas = likelyGas(task);
      bytes = taskBytes(task);
    }
  }
  return chunks;
}

/** A side that no one has asked about yet most often trades whole; the others take a halving for each doubling of doubt. */
function likelyGas({ job: { bins }, known: { low, high } }: SearchTask): number {
  if (high === null) return LIKELY_GAS.base + bins.length * LIKELY_GAS.perBin;
  const questions = Math.ceil(Math.log2(high - low + 1));
  const walked = Math.min(bins.length, (low + high) / 2 / STEPS_PER_BIN + 1);
  return questions * (LIKELY_GAS.base + walked * LIKELY_GAS.perBin);
}

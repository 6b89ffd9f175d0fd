import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import type { Depth } from '../../../protocol/depth.ts';
import type { PoolCurve } from '../curve-snapshot.ts';
import type { MulticallTarget } from '../rpc/multicall.ts';
import { RpcFailure } from '../rpc/rpc-failure.ts';
import { type BlockRef, SnapshotError } from '../types.ts';
import { runGuardSearch, type SearchTask, taskBytes } from './guard-search.ts';
import {
  executableLevels,
  type Found,
  isBurnedOut,
  NOTHING_FOUND,
  type SideJob,
  STEPS_PER_BIN,
  sideJob,
} from './side-job.ts';

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
/** More than the worst search takes, two simulations per call. */
const MOST_ROUNDS = 16;
/** From this round on each search has a call of its own: what takes so long holds no other back. */
const APART_FROM_ROUND = 4;

/** How long pools whose guards burn all the gas are left alone, and of how many that is remembered. */
const BURNED = { ttl: 60_000, max: 10_000 };
const CLOSED: GuardedSides = { bids: null, asks: null };

/** What is known of a side, or why nothing more will be. */
type Outcome = Found | RpcFailure;

/**
 * Asks the guards of pools by simulated swaps: the chain itself is the judge. The searches of all pools share calls and run
 * inside them, so that an answer needs no round trip to lead to the next question.
 */
export class GuardProber {
  readonly #target: MulticallTarget;
  /** A search of such a pool costs what a thousand honest ones do: not with every block. */
  readonly #burnedOut = new LRUCache<Address, true>(BURNED);

  constructor(target: MulticallTarget) {
    this.#target = target;
  }

  /**
   * @returns an entry for each job: the reason when its search came to no end
   * @throws RpcFailure when the nodes failed from the start
   */
  async probe(
    block: BlockRef,
    jobs: readonly GuardJob[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<Address, GuardedSides | Error>> {
    const resting = jobs.filter(({ pool }) => this.#burnedOut.has(pool));
    const found = await this.#probeAll(
      block,
      jobs.filter((job) => !resting.includes(job)),
      signal,
    );
    return new Map([...resting.map(({ pool }) => [pool, CLOSED] as const), ...found]);
  }

  async #probeAll(
    block: BlockRef,
    jobs: readonly GuardJob[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<Address, GuardedSides | Error>> {
    const sides = jobs.flatMap(({ pool, curve }) => {
      const { bids, asks } = curve.sides();
      return [sideJob(pool, curve, bids), sideJob(pool, curve, asks)];
    });
    const found = await this.#search(block, sides, signal);
    const levelsOf = (side: SideJob | undefined) => side && levelsFound(side, found.get(side) ?? NOTHING_FOUND);
    return new Map(
      jobs.map(({ pool }, index) => {
        if (areBurnedOut(found, sides.slice(2 * index, 2 * index + 2))) this.#burnedOut.set(pool, true);
        const [bids = null, asks = null] = [levelsOf(sides[2 * index]), levelsOf(sides[2 * index + 1])];
        if (bids instanceof Error) return [pool, bids];
        return [pool, asks instanceof Error ? asks : { bids, asks }];
      }),
    );
  }

  async #search(
    block: BlockRef,
    sides: readonly SideJob[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<SideJob, Outcome>> {
    const outcomes = new Map<SideJob, Outcome>(sides.map((job) => [job, NOTHING_FOUND]));
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const open = [...outcomes].flatMap(([job, known]) => (isOpen(known) ? [{ job, known }] : []));
      if (open.length === 0) break;
      const chunks = round < APART_FROM_ROUND ? chunkTasks(open) : open.map((task) => [task]);
      await Promise.all(
        chunks.map(async (tasks) => {
          const answer = await runGuardSearch(this.#target, block, tasks, signal).catch((error: unknown) => {
            // What others have found before is theirs.
            if (round > 0 && error instanceof RpcFailure) return tasks.map(() => error);
            throw error;
          });
          for (const [index, { job }] of tasks.entries()) outcomes.set(job, answer[index] ?? NOTHING_FOUND);
        }),
      );
    }
    return outcomes;
  }
}

const isOpen = (outcome: Outcome): outcome is Found => !(outcome instanceof RpcFailure) && !outcome.done;

function areBurnedOut(found: ReadonlyMap<SideJob, Outcome>, sides: readonly SideJob[]): boolean {
  return sides.every((side) => {
    const outcome = found.get(side);
    return outcome !== undefined && !(outcome instanceof RpcFailure) && isBurnedOut(outcome);
  });
}

function levelsFound(side: SideJob, outcome: Outcome): Depth['bids'] | null | Error {
  if (outcome instanceof RpcFailure) return outcome;
  if (!outcome.done) return new SnapshotError('read_failed', `the guards of ${side.pool} came to no answer`);
  return executableLevels(side, outcome);
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

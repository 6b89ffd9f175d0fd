import { randomInt } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Address, type Hex, zeroAddress } from 'viem';
import { boundedCalls, type ChainTarget, runProgram } from '../../chain/isolated-calls.ts';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockRef, CodeOverrides, ReadContext } from '../../chain/read-context.ts';
import { isRefusal, lacksOverrides, RpcFailure } from '../../chain/rpc-failure.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import type { BoundedCall, CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type {
  CurveKnowledge,
  CurveSearch,
  SearchChain,
  SearchEnd,
  SearchedCurve,
} from '../../protocol/curve-search.ts';
import { growingTo } from '../../runtime/growing-cache.ts';
import { stringifyJson } from '../../runtime/json.ts';
import type { Logger } from '../../runtime/logger.ts';
import { batched } from '../calls/batched.ts';
import { type ServedPool, swapGuards } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { SnapshotObserver } from '../snapshot-metrics.ts';

export interface CurveSearcherDeps {
  readonly target: ChainTarget;
  /** How many pools may have every level simulated at one block. */
  readonly simulatedPoolsPerRead: number;
  readonly observer: Pick<Partial<SnapshotObserver>, 'curve'>;
  readonly logUnknown: LogUnknownError;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Swaps of one pool to simulate. */
interface SimulatedSwaps {
  readonly swaps: readonly BoundedCall[];
  readonly silenced: readonly Address[];
}

/** For this long a pool is not searched after most of its simulated swaps gave no data: such swaps may burn all gas. */
const SPARED_MS = 60_000;
/** For how many pools it is remembered what searches found out: those read last. */
const MAX_POOLS = 10_000;
/** Gas of a call in a search: as much as a provider may take when it is called through the pool. */
const SEARCH_GAS = 3_000_000n;
/** A selector and two words, which hold the amounts of a simulated swap. */
const KEPT_BYTES = 68;
const DRAWS = 2 ** 31;
/** Code that answers any call with the call's selector, which a pool may require of an extension. */
const NO_OBJECTION: Hex = '0x5f3560e01c60e01b5f5260205ff3';
const SILENCE: CallResult = { success: false, data: '0x' };
const identity = (answer: Hex): Hex => answer;

/**
 * Finds, by calls, curves that cannot be computed from state and quote alone. Remembers what counts at later blocks.
 * Simulated swaps of pools that are searched at the same block share calls.
 */
export class CurveSearcher {
  readonly #deps: CurveSearcherDeps;
  readonly #known = new LRUCache<Address, CurveKnowledge>(growingTo(MAX_POOLS));
  readonly #spared = new LRUCache<Address, true>({ ...growingTo(MAX_POOLS), ttl: SPARED_MS });
  /** The pools that have every level simulated at the last block. */
  #simulated: { readonly state: string; readonly pools: Set<Address> } = { state: '', pools: new Set() };

  constructor(deps: CurveSearcherDeps) {
    this.#deps = deps;
  }

  /** What earlier searches found out about a pool. */
  known(pool: Address): CurveKnowledge | undefined {
    return this.#known.get(pool);
  }

  /**
   * Searches the curve of a pool at the block of its state.
   *
   * @throws SnapshotError when the pool does not show its curve, RpcFailure when the nodes did not answer
   */
  async find(at: ReadContext, pool: ServedPool, search: CurveSearch): Promise<SearchedCurve> {
    if (this.#spared.has(pool.address)) throw new SnapshotError('unavailable', `${pool.address} simulates no swaps`);
    const context = {
      pool: pool.address,
      known: this.#known.get(pool.address),
      immutableProvider: pool.immutableProvider,
      guards: swapGuards(pool).map(({ address }) => address),
      isUnknownGuarded: isUnknownGuarded(pool),
      isCallerJudged: swapGuards(pool).some(({ kind }) => kind === 'swapAllowlist'),
      draw: () => randomInt(DRAWS),
      refuted: (inputs: unknown) => {
        const fields = { pool: pool.address, blockNumber: Number(at.block.number), inputs: stringifyJson(inputs) };
        this.#deps.logger.warn(fields, 'what proved the curve of a pool does not hold any more');
      },
    };
    const swaps = { asked: 0, silent: 0 };
    const end = await this.#run(pool, () => search.find(context, this.#chain(at, pool, swaps)));
    if (end.known) this.#known.set(pool.address, end.known);
    else this.#known.delete(pool.address);
    this.#deps.observer.curve?.({ pool: pool.address, method: end.method, dropped: end.dropped });
    if (end.method !== 'none') return end.curve;
    if (2 * swaps.silent > swaps.asked) this.#spared.set(pool.address, true);
    throw new SnapshotError('unavailable', `no depth of ${pool.address}: ${end.reason}`);
  }

  async #run(pool: ServedPool, find: () => Promise<SearchEnd>): Promise<SearchEnd> {
    try {
      return await find();
    } catch (error) {
      if (error instanceof SnapshotError || error instanceof RpcFailure) throw error;
      throw new SnapshotError('read_failed', `the search for the curve of ${pool.address} failed`, { cause: error });
    }
  }

  /** @throws SnapshotError when the limit of simulated pools at this block is reached */
  #reserveSimulation(block: BlockRef, { address }: ServedPool): void {
    const state = stateOf(block);
    if (this.#simulated.state !== state) this.#simulated = { state, pools: new Set() };
    this.#simulated.pools.add(address);
    if (this.#simulated.pools.size <= this.#deps.simulatedPoolsPerRead) return;
    this.#simulated.pools.delete(address);
    throw new SnapshotError('unavailable', 'the limit of simulated pools at this block is reached');
  }

  /** Gives the calls that the search of one pool may make, and counts its swaps. */
  #chain(at: ReadContext, pool: ServedPool, count: { asked: number; silent: number }): SearchChain {
    const { target, logUnknown } = this.#deps;
    const { address } = pool;
    // Calls of contracts alone do not show which part they ran on.
    // What is learned of code here is checked by each read.
    const { pending, ...committed } = at.block;
    const known = pending?.part ? { ...at, block: committed } : at;
    return {
      simulate: async (searched, silenced) => {
        const swaps = searched.map((swap) => ({ target: address, ...swap, keptBytes: KEPT_BYTES }));
        // An unknown extension may be a contract that other pools need: a block of its own shares no call.
        const own = isUnknownGuarded(pool) ? { ...at, block: { ...at.block } } : at;
        const simulated = await this.#simulate(own, { swaps, silenced });
        // An unknown extension may revert with anything.
        if (!isUnknownGuarded(pool)) for (const result of simulated.results) logUnknown(address, result);
        count.asked += simulated.results.length;
        count.silent += simulated.results.filter(({ data }) => data === '0x').length;
        return simulated;
      },
      ask: (to, data) => {
        const call = { ...known, from: zeroAddress, to, data, gas: SEARCH_GAS };
        return target.rpc.call(call, identity).catch(nothingWhenRejected);
      },
      codes: (accounts) =>
        Promise.all(accounts.map((account) => target.rpc.code(account, known).catch(nothingWhenRejected))),
      program: (data, silenced) => {
        if (pending?.part) throw new SnapshotError('unavailable', 'levels are not simulated after a part');
        this.#reserveSimulation(at.block, pool);
        return this.#runProgram(at, data, silenced);
      },
    };
  }

  /** Runs a program with silenced extensions. A node that refuses overrides runs it with the extensions as they are. */
  async #runProgram(at: ReadContext, data: Hex, silenced: readonly Address[]): Promise<Hex> {
    const { target } = this.#deps;
    if (silenced.length === 0) return runProgram(target, at, data, identity);
    return runProgram(target, { ...at, code: withoutObjection(silenced) }, data, identity).catch((error) => {
      if (!lacksOverrides(error)) throw error;
      return runProgram(target, at, data, identity);
    });
  }

  /**
   * Simulates swaps of several pools in shared calls. Guards that one pool leaves out are silenced for all: they are
   * known contracts of the deployment, which the swaps of other pools do not need either.
   */
  readonly #simulate = batched(async (at: ReadContext, asked: readonly SimulatedSwaps[]) => {
    const groups = asked.flatMap(({ swaps }) => swaps.map((swap) => [swap]));
    const code = withoutObjection(asked.flatMap(({ silenced }) => silenced));
    const { target } = this.#deps;
    const { isApplied, answers } = await boundedCalls(target, { ...at, code }, groups);
    const results = answers.map((answer) => answer?.results[0] ?? SILENCE);
    return asked.map(({ swaps }) => ({ results: results.splice(0, swaps.length), isSilenced: isApplied }));
  });
}

const isUnknownGuarded = (pool: ServedPool): boolean => swapGuards(pool).some(({ kind }) => kind === 'custom');

/** Overrides that silence extensions. */
const withoutObjection = (extensions: readonly Address[]): CodeOverrides =>
  new Map(extensions.map((extension) => [extension, NO_OBJECTION]));

/** Gives `0x` when a contract reverts or a node refuses to return code: no formula counts for unknown code. */
function nothingWhenRejected(error: unknown): Hex {
  if (isRefusal(error)) return '0x';
  throw error;
}

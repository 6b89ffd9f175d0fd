import { randomInt } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Address, type Hex, zeroAddress } from 'viem';
import type { BlockRef, CodeOverrides } from '../../chain/chain-rpc.ts';
import { boundedCallsWithCode, type ChainTarget, runProgram } from '../../chain/contract-calls.ts';
import { isRefusal, RpcFailure } from '../../chain/rpc-failure.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import type { BoundedCall, CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { CurveKnowledge, CurveSearch, SearchStep } from '../../protocol/curve-search.ts';
import { stringifyJson } from '../../runtime/json.ts';
import type { Logger } from '../../runtime/logger.ts';
import { batched } from './batched.ts';
import { BlockBudget } from './block-budget.ts';
import type { CountCurve } from './curve-metrics.ts';
import { guardPlan, type ServedPool, swapGuards } from './pool-directory.ts';
import { SnapshotError } from './types.ts';

export interface CurveSearcherDeps {
  readonly target: ChainTarget;
  /** Pools that may be simulated whole at one block. */
  readonly simulatedPoolsPerRead: number;
  readonly countCurve: CountCurve;
  readonly logUnknown: LogUnknownError;
  readonly logger: Pick<Logger, 'warn'>;
}

/** The end of a search that found the curve. */
export type FoundCurve = Extract<SearchStep, { readonly kind: 'curve' | 'sides' }>;
type End = Extract<SearchStep, { readonly kind: 'curve' | 'sides' | 'failed' }>;
type Question = Exclude<SearchStep, End>;
type Program = Extract<SearchStep, { readonly kind: 'program' }>;

/** Of one pool. */
interface SimulatedSwaps {
  readonly swaps: readonly BoundedCall[];
  readonly silenced: readonly Address[];
  readonly signal: AbortSignal;
}

/** How long a pool is left alone when half of its simulated swaps ended in silence: such may take all the gas they get. */
const SPARED_MS = 60_000;
/** Pools, those read last, of which it is remembered what was found out. */
const MAX_POOLS = 10_000;
/** As much as a provider may take through the pool. */
const ASKED_GAS = 3_000_000n;
/** The amounts of a simulated swap: a selector and two words. */
const KEPT_BYTES = 68;
const DRAWS = 2 ** 31;
/** Code that answers any call with its selector, as an extension that may have to. */
const NO_OBJECTION: Hex = '0x5f3560e01c60e01b5f5260205ff3';
const SILENCE: CallResult = { success: false, data: '0x' };
const identity = (answer: Hex): Hex => answer;

/**
 * Asks the chain for curves that are not computed from state and quote alone, and remembers what counts at later blocks.
 * Simulated swaps of pools that are searched at the same block share their calls.
 */
export class CurveSearcher {
  readonly #deps: CurveSearcherDeps;
  readonly #known: LRUCache<Address, CurveKnowledge>;
  readonly #spared: LRUCache<Address, true>;
  readonly #programs: BlockBudget;

  constructor(deps: CurveSearcherDeps) {
    this.#deps = deps;
    this.#known = new LRUCache({ max: MAX_POOLS });
    this.#spared = new LRUCache({ max: MAX_POOLS, ttl: SPARED_MS });
    this.#programs = new BlockBudget(deps.simulatedPoolsPerRead);
  }

  /** What earlier searches found out about a pool. */
  known(pool: Address): CurveKnowledge | undefined {
    return this.#known.get(pool);
  }

  /**
   * Searches the curve of a pool at the block of its state.
   *
   * @throws SnapshotError when the pool does not show it, RpcFailure when the nodes did not answer
   */
  async find(block: BlockRef, pool: ServedPool, search: CurveSearch, signal: AbortSignal): Promise<FoundCurve> {
    if (this.#spared.has(pool.address)) throw new SnapshotError('unavailable', `${pool.address} simulates no swaps`);
    const context = {
      pool: pool.address,
      known: this.#known.get(pool.address),
      immutableProvider: pool.immutableProvider,
      isGuarded: guardPlan(pool).kind !== 'none',
      evaluatedGuards: guardPlan(pool).kind === 'evaluated' ? swapGuards(pool).map(({ address }) => address) : [],
      isCallerJudged: swapGuards(pool).some(({ kind }) => kind === 'swapAllowlist'),
      draw: () => randomInt(DRAWS),
      refuted: (inputs: unknown) => {
        const fields = { pool: pool.address, blockNumber: Number(block.number), inputs: stringifyJson(inputs) };
        this.#deps.logger.warn(fields, 'what proved the curve of a pool does not hold any more');
      },
    };
    const end = await this.#run(block, pool, () => search.start(context), signal);
    if (end.known) this.#known.set(pool.address, end.known);
    else this.#known.delete(pool.address);
    this.#deps.countCurve({
      pool: pool.address,
      rank: end.kind === 'failed' ? 'none' : end.rank,
      dropped: end.dropped,
    });
    if (end.kind === 'failed') throw new SnapshotError('unavailable', `no depth of ${pool.address}: ${end.reason}`);
    return end;
  }

  async #run(block: BlockRef, pool: ServedPool, start: () => SearchStep, signal: AbortSignal): Promise<End> {
    const run = { mayRunPrograms: false, swaps: 0, silent: 0 };
    try {
      let step = start();
      while (!isEnd(step)) {
        if (step.kind === 'program') run.mayRunPrograms ||= this.#programs.take(block);
        if (step.kind === 'program' && !run.mayRunPrograms) {
          throw new SnapshotError('unavailable', 'as many pools as may be at this block are simulated already');
        }
        step = await this.#answer(block, pool, step, run, signal);
      }
      if (step.kind === 'failed' && 2 * run.silent > run.swaps) this.#spared.set(pool.address, true);
      return step;
    } catch (error) {
      if (error instanceof SnapshotError || error instanceof RpcFailure) throw error;
      throw new SnapshotError('read_failed', `the search for the curve of ${pool.address} failed`, { cause: error });
    }
  }

  /** The step that follows from the chain's answer. */
  async #answer(
    block: BlockRef,
    pool: ServedPool,
    step: Question,
    run: { swaps: number; silent: number },
    signal: AbortSignal,
  ): Promise<SearchStep> {
    const { target, logUnknown } = this.#deps;
    const { address } = pool;
    if (step.kind === 'simulate') {
      const swaps = step.swaps.map((swap) => ({ target: address, ...swap, keptBytes: KEPT_BYTES }));
      const { results, isSilenced } = await this.#simulate(block, { swaps, silenced: step.silenced, signal });
      // An unknown extension may revert with anything.
      if (guardPlan(pool).kind !== 'probed') for (const result of results) logUnknown(address, result);
      run.swaps += results.length;
      run.silent += results.filter(({ data }) => data === '0x').length;
      return step.next(results, isSilenced);
    }
    if (step.kind === 'ask') {
      const call = { from: zeroAddress, to: step.target, data: step.data, gas: ASKED_GAS, block };
      return step.next(await target.rpc.call(call, identity, signal).catch(nothingWhenRefused));
    }
    if (step.kind === 'code') {
      const codeOf = (account: Address) => target.rpc.code(account, block, signal).catch(nothingWhenRefused);
      return step.next(await Promise.all(step.accounts.map(codeOf)));
    }
    return step.next(await this.#runProgram(block, step, signal));
  }

  /** A node that refuses to put other code in place runs the program with the extensions as they are. */
  async #runProgram(block: BlockRef, step: Program, signal: AbortSignal): Promise<Hex> {
    const { target } = this.#deps;
    if (step.silenced.length === 0) return runProgram(target, block, step, identity, signal);
    return runProgram(target, block, step, identity, signal, withoutObjection(step.silenced)).catch((error) => {
      if (!isRefusal(error)) throw error;
      return runProgram(target, block, step, identity, signal);
    });
  }

  /** Guards that some leave out are known contracts of the deployment: the swaps of other pools do not need them either. */
  readonly #simulate = batched(async (block: BlockRef, asked: readonly SimulatedSwaps[]) => {
    const groups = asked.flatMap(({ swaps }) => swaps.map((swap) => [swap]));
    const code = withoutObjection(asked.flatMap(({ silenced }) => silenced));
    const { target } = this.#deps;
    const { isApplied, answers } = await boundedCallsWithCode(target, block, groups, code, asked[0]?.signal);
    const results = answers.map((answer) => answer?.results[0] ?? SILENCE);
    return asked.map(({ swaps }) => ({ results: results.splice(0, swaps.length), isSilenced: isApplied }));
  });
}

/** Code to put in place of extensions. */
const withoutObjection = (extensions: readonly Address[]): CodeOverrides =>
  new Map(extensions.map((extension) => [extension, NO_OBJECTION]));

/** Of a contract that reverts, and of a node that does not tell code: no formula counts for code that is unknown. */
function nothingWhenRefused(error: unknown): Hex {
  if (isRefusal(error)) return '0x';
  throw error;
}

const isEnd = (step: SearchStep): step is End =>
  step.kind === 'curve' || step.kind === 'sides' || step.kind === 'failed';

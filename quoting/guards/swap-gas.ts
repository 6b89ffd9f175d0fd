import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockRef, ReadContext } from '../../chain/read-context.ts';
import { isExhaustedBudget, RpcFailure } from '../../chain/rpc-failure.ts';
import type { BoundedAnswer, BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import { type GroupAnswer, runBoundedCalls } from '../../protocol/bounded-calls/run-bounded-calls.ts';
import { filledSwap } from '../../protocol/pool-errors.ts';
import { swapGas } from '../../protocol/swap-gas.ts';
import type { Clock } from '../../runtime/clock.ts';
import { growingTo } from '../../runtime/growing-cache.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { priceCall } from '../calls/probe-calls.ts';
import type { DepthSnapshot } from '../types.ts';
import { gasOf, type MeasuredPool, type PoolGas, sideSwaps, swapCall, UNKNOWN } from './side-swaps.ts';

/** A swap of an amount, raw units: positive = exact input, negative = exact output. */
export interface AskedSwap {
  readonly snapshot: MeasuredPool & Pick<DepthSnapshot, 'block'>;
  readonly zeroForOne: boolean;
  readonly amount: bigint;
  /** Gives it up. */
  readonly signal: AbortSignal;
}

/** Calls of a pool to be made at a block, in one group. */
interface Asked {
  readonly address: Address;
  readonly block: BlockRef;
  readonly calls: readonly BoundedCall[];
  /** Takes the answer; null: nodes gave none. */
  readonly done: (answer: GroupAnswer | null) => void;
  readonly ended: PromiseWithResolvers<void>;
}

interface Measured {
  readonly gas: PoolGas;
  readonly triedAt: number;
  /** How many bins the pool then had on both sides; null: nodes did not answer. */
  readonly bins: number | null;
}

/** Gas changes with bins and extensions, hardly with prices: while bins are as many, it is kept for so long. */
const KEEP_MS = 3_600_000;
/** Otherwise it is measured again after this time. */
const RETRY_MS = 60_000;
const MAX_POOLS = 10_000;
/** Of about one call: where the budget has no more, those of before are measured. */
const POOLS_AT_ONCE = 25;

export interface SwapGasDeps {
  /** Makes calls in one `eth_call`, at a block or at a newer part of it. */
  readonly send: (at: ReadContext, calls: readonly BoundedCall[]) => Promise<BoundedAnswer>;
  /** Takes a call from the budget of scheduled reads; false when it has none. */
  readonly reserve: () => boolean;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly now: Clock;
}

/**
 * Measures what swaps of pools take by simulating them: each pool that is asked for, once an hour and when its bins
 * change, and swaps of given amounts. What is asked for during a call goes together in the next ones, first what
 * somebody waits for.
 */
export class SwapGas {
  readonly #deps: SwapGasDeps;
  readonly #measured = new LRUCache<Address, Measured>(growingTo(MAX_POOLS));
  readonly #outage: OutageLog;
  /** First those that somebody waits for. */
  #waiting: Asked[] = [];
  #inFlight: readonly Asked[] = [];
  #isMeasuring = false;

  constructor(deps: SwapGasDeps) {
    this.#deps = deps;
    this.#outage = new OutageLog(deps.logger, {
      begin: 'gas of swaps is not measured: it stays as it was, or unknown',
      end: 'gas of swaps is measured again',
      now: deps.now,
    });
  }

  /**
   * What is known; begins to measure what is not. Nodes that do not answer are asked again in a
   * minute, as they are when the budget is exhausted.
   *
   * @param block a newer one than the snapshot's, if the pool is the same there
   * @returns the same object until the pool is measured again
   */
  of(snapshot: MeasuredPool, block: BlockRef): PoolGas {
    const { address } = snapshot.pool;
    const known = this.#measured.get(address);
    const [gas, bins, triedAt] = [known?.gas ?? UNKNOWN, binsOf(snapshot), this.#deps.now()];
    if (!known || triedAt >= known.triedAt + (known.bins === bins ? KEEP_MS : RETRY_MS)) {
      // Who asks meanwhile waits for this measurement.
      this.#measured.set(address, { gas, triedAt, bins: null });
      const sides = sideSwaps(snapshot);
      const done = (answer: GroupAnswer | null) => {
        if (answer) this.#measured.set(address, { gas: gasOf(sides, answer), triedAt: this.#deps.now(), bins });
      };
      const swaps = sides.flatMap(({ calls }) => calls);
      if (swaps.length > 0) {
        this.#waiting.push(askedOf({ address, block, calls: [priceCall(snapshot.pool), ...swaps], done }));
        void this.#measureAll();
      }
    }
    return gas;
  }

  /** Waits until these pools are measured, as far as that was asked for, before others. */
  async settled(pools: ReadonlySet<Address>): Promise<void> {
    const isOwn = ({ address }: Asked) => pools.has(address);
    const own = this.#waiting.filter(isOwn);
    this.#waiting = [...own, ...this.#waiting.filter((each) => !isOwn(each))];
    await Promise.all([...this.#inFlight.filter(isOwn), ...own].map(({ ended }) => ended.promise));
  }

  /**
   * Simulates a swap in the state of its snapshot.
   *
   * @returns its gas with provider and transfers, without the transaction's own; null if it does not fill, nodes do not
   *   answer, or it was given up
   */
  async simulate({ snapshot, zeroForOne, amount, signal }: AskedSwap): Promise<number | null> {
    const { pool, curve, block } = snapshot;
    const side = zeroForOne ? curve?.bids : curve?.asks;
    if (!side || signal.aborted) return null;
    const calls = [priceCall(pool), swapCall(pool, side, amount)];
    const answer = await new Promise<GroupAnswer | null>((done) => {
      const asked = askedOf({ address: pool.address, block, calls, done });
      this.#waiting.unshift(asked);
      const giveUp = () => {
        this.#waiting = this.#waiting.filter((each) => each !== asked);
        done(null);
        asked.ended.resolve();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      void this.#measureAll();
    });
    const [prices, swap] = answer?.results ?? [];
    return prices && swap && filledSwap(side, swap) ? swapGas(swap.gasUsed, prices.gasUsed) : null;
  }

  /** Never rejects. */
  async #measureAll(): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    // More pools of the same frame come meanwhile.
    await new Promise(setImmediate);
    for (let [first] = this.#waiting; first; [first] = this.#waiting) {
      const state = stateOf(first.block);
      const together = this.#waiting.filter(({ block }) => stateOf(block) === state).slice(0, POOLS_AT_ONCE);
      this.#waiting = this.#waiting.filter((each) => !together.includes(each));
      this.#inFlight = together;
      const answers = await this.#run(first.block, together);
      for (const [index, { done, ended }] of together.entries()) {
        done(answers[index] ?? null);
        ended.resolve();
      }
    }
    this.#inFlight = [];
    this.#isMeasuring = false;
  }

  async #run(block: BlockRef, asked: readonly Asked[]): Promise<readonly (GroupAnswer | null)[]> {
    const { send, reserve } = this.#deps;
    try {
      const groups = asked.map(({ calls }) => calls);
      const answers = await runBoundedCalls(groups, (calls) => send({ block, reserve }, calls));
      this.#outage.worked();
      return answers;
    } catch (error) {
      // Neither is an outage of nodes.
      const isUsual = isExhaustedBudget(error) || (error instanceof RpcFailure && error.code === 'moved');
      if (!isUsual) this.#outage.failed(error);
      return [];
    }
  }
}

const binsOf = ({ depth: { bids, asks } }: MeasuredPool): number => bids.length + asks.length;

const askedOf = (asked: Omit<Asked, 'ended'>): Asked => ({ ...asked, ended: Promise.withResolvers() });

import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { type ContractCall, packCalls } from '../../chain/multicall.ts';
import { digestOf as viewDigest } from '../../chain/pending-part.ts';
import type { PartView, PendingState, TargetBlock } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { type FurtherCalls, NO_CALLS, type ShownPartAnd } from '../../chain/read-part.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { maxBigint } from '../../protocol/fixed-point.ts';
import type { Clock } from '../../runtime/clock.ts';
import { perObject } from '../../runtime/per-object.ts';
import {
  type AnsweredPool,
  digestCall,
  digestCode,
  digestOf,
  type OtherAnswers,
  othersIn,
  readOthers,
} from '../calls/answers-digest.ts';
import type { PoolAnswers } from '../calls/decode-pool.ts';
import { hasMovedWhole } from '../guards/transfer-prover.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { PoolGas } from './pool-gas.ts';

/** What a pool answered after a part, with its prices. */
interface KnownAnswers extends AnsweredPool {
  readonly block: PendingState;
  readonly whole: PoolAnswers;
}

/** For how many pools it is remembered what they answered: more than one call gives answers of. */
const MAX_POOLS = 300;
const MAX_VIEWS = 4;
/**
 * For how long no answers are read with parts after nodes refused or ignored the calls, or took too long. The first
 * time, it may be that a block was just sealed, or that the machine is busy. Each time in a row it is twice as long.
 */
const PAUSE_MS = 200;
const MAX_PAUSE_MS = 10_000;

/**
 * What pools answer after a part, as the call that shows it also shows: of pools that were read after an earlier part,
 * it gives what has changed since. So a part that changes no pool is read by one call.
 *
 * 1. Storage of the pool, quote of its provider, stop loss, balances and code are of one state with the part. The
 *    pool's own prices take a call of their own.
 * 2. Where nothing of this changed, the prices are those of before: its code makes them of it. But not in another
 *    block, whose time and number are others, nor those of a pool that once gave others.
 */
export class ShownAnswers {
  /** What the calls take. */
  readonly gas: PoolGas;
  readonly #now: Clock;
  readonly #known = new LRUCache<Address, KnownAnswers>({ max: MAX_POOLS });
  readonly #unproven = new LRUCache<Address, true>({ max: MAX_POOLS });
  /** By the part that the call showed. */
  readonly #shown = new LRUCache<string, ReadonlyMap<Address, AnsweredPool>>({ max: MAX_VIEWS });
  #failures = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** The call in flight. */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(now: Clock) {
    this.#now = now;
    this.gas = new PoolGas(now);
  }

  /**
   * Makes the call that shows a part.
   *
   * @param call makes it with further calls
   * @param mayHaveCode whether nodes may put code at addresses for them
   * @throws what it throws
   */
  read(call: (further: FurtherCalls) => Promise<ShownPartAnd>, mayHaveCode: boolean): Promise<PartView> {
    const reading = this.#read(call, mayHaveCode ? this.#due() : []);
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  async #read(call: (further: FurtherCalls) => Promise<ShownPartAnd>, due: readonly KnownAnswers[]): Promise<PartView> {
    const further = { calls: due.map(callOf), code: digestCode(due.map(({ pool }) => pool)) };
    try {
      const { view, results } = await call(due.length > 0 ? further : NO_CALLS);
      this.#show(view, due, results);
      return view;
    } catch (error) {
      if (due.length > 0) this.#pause();
      // The call fails without them, too.
      else this.#failures = 0;
      throw error;
    }
  }

  /** The pools that were read in the newest block or in the one before, as far as one call goes. None burns gas. */
  #due(): readonly KnownAnswers[] {
    if (this.#now() < this.#pausedUntil) return [];
    const known = [...this.#known.values()];
    const newest = known.reduce((most, { block }) => maxBigint(most, block.blockNumber), 0n);
    const recent = known.filter(
      ({ block, pool }) => block.blockNumber >= newest - 1n && !this.gas.isCostly(pool.address),
    );
    const [first = []] = packCalls(recent.map((each) => [this.#packed(each)]));
    return recent.slice(0, first.length);
  }

  #packed(known: KnownAnswers): ContractCall {
    const call = callOf(known);
    return { ...call, gas: call.gas * this.gas.share('shown', known.pool.address) };
  }

  #show(view: PartView, due: readonly KnownAnswers[], results: readonly CallResult[]): void {
    const shown = new Map<Address, AnsweredPool>();
    for (const [index, known] of due.entries()) {
      const others = results[index] && readOthers(known, results[index]);
      if (!others) continue;
      const { pool } = known;
      const { answers, gasUsed } = others;
      this.gas.note('shown', pool.address, gasUsed, callOf(known).gas);
      shown.set(pool.address, answers === known.answers ? known : { pool, answers });
    }
    if (shown.size > 0) this.#failures = 0;
    else if (due.length > 0) this.#pause();
    const state = viewDigest(view);
    this.#shown.set(state, new Map([...(this.#shown.get(state) ?? []), ...shown]));
  }

  #pause(): void {
    this.#pausedUntil = this.#now() + Math.min(PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures += 1;
  }

  /** Whether calls of this process showed the part of a block; undefined at any other block. */
  isShown({ pending }: BlockRef): boolean | undefined {
    return pending?.part && this.#shown.has(pending.digest);
  }

  /** All that a pool answers at a block; undefined where at least its prices have to be read. */
  at(block: BlockRef, pool: ServedPool): PoolAnswers | undefined {
    const known = this.#known.get(pool.address);
    const shown = this.#find(block, pool);
    if (!shown || !known || !block.pending || !isSameBlock(known.block, block.pending)) return undefined;
    const isSame = known.pool === pool && digestOf(known) === digestOf(shown);
    return isSame && this.#isProvable(known) ? known.whole : undefined;
  }

  /** What a pool answers at a block, its own prices aside; undefined where that has to be read. */
  others(block: BlockRef, pool: ServedPool): OtherAnswers | undefined {
    return this.#find(block, pool)?.answers;
  }

  /** As {@link others}, once the call in flight has ended. */
  async othersSoon(block: BlockRef, pool: ServedPool): Promise<OtherAnswers | undefined> {
    const known = this.others(block, pool);
    if (known) return known;
    await this.#reading;
    return this.others(block, pool);
  }

  #find({ pending }: BlockRef, pool: ServedPool): AnsweredPool | undefined {
    const shown = pending && this.#shown.get(pending.digest)?.get(pool.address);
    return shown?.pool === pool ? shown : undefined;
  }

  /** Notes what a pool answered at a block. */
  note({ pending }: BlockRef, pool: ServedPool, whole: PoolAnswers): void {
    if (!pending?.part) return;
    const before = this.#known.get(pool.address);
    const known = { pool, block: pending, answers: othersIn(whole), whole };
    this.#known.set(pool.address, known);
    if (before?.pool !== pool || !isSameBlock(before.block, pending)) return;
    const [[priceBefore], [price]] = [before.whole.prices ?? [], whole.prices ?? []];
    const isOtherPrice = priceBefore?.data !== price?.data;
    if (isOtherPrice && digestOf(before) === digestOf(known)) this.#unproven.set(pool.address, true);
  }

  /** Whether the same digest means the same prices. */
  #isProvable({ pool: { address }, whole: { storage, quote, prices, transfers = [] } }: KnownAnswers): boolean {
    const [price] = prices ?? [];
    if (!storage?.success || !quote || !price || this.#unproven.has(address)) return false;
    // A price without a quote is of something else. Tokens that do not move whole are tried at each part.
    return (quote.success || !price.success) && transfers.every(hasMovedWhole);
  }
}

/** A part later it is the same. */
const callOf = perObject((known: KnownAnswers) => digestCall(known));

const isSameBlock = (one: TargetBlock & Pick<PendingState, 'part'>, other: PendingState): boolean =>
  one.blockNumber === other.blockNumber &&
  one.timestamp === other.timestamp &&
  one.part?.view.parentHash === other.part?.view.parentHash;

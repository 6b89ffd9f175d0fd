import { LRUCache } from 'lru-cache';
import type { Address, Hex } from 'viem';
import { type ContractCall, packCalls } from '../../chain/multicall.ts';
import { digestOf as viewDigest } from '../../chain/pending-part.ts';
import type { PartView, PendingState, TargetBlock } from '../../chain/pending-state.ts';
import type { BlockRef, CodeOverrides } from '../../chain/read-context.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { maxBigint } from '../../protocol/fixed-point.ts';
import type { Clock } from '../../runtime/clock.ts';
import { perObject } from '../../runtime/per-object.ts';
import { type AnsweredPool, digestCall, digestCode, digestOf, readDigest } from '../calls/answers-digest.ts';
import type { PoolAnswers } from '../calls/decode-pool.ts';
import { hasMovedWhole } from '../guards/transfer-prover.ts';
import type { ServedPool } from '../pools/pool-directory.ts';

/** What a pool answered after a part. */
interface KnownAnswers extends AnsweredPool {
  readonly block: PendingState;
}

/** Calls to make in the one that shows the part. */
export interface DigestCalls {
  readonly pools: readonly ServedPool[];
  /** In the order of the pools. */
  readonly calls: readonly ContractCall[];
  readonly code: CodeOverrides;
}

/** For how many pools it is remembered what they answered: more than one call has digests of. */
const MAX_POOLS = 300;
const MAX_VIEWS = 4;
/** For so long no digests are read after nodes refused or ignored the calls. */
const PAUSED_MS = 10_000;
/** None. */
export const NO_CALLS: DigestCalls = { pools: [], calls: [], code: new Map() };

/**
 * What pools answered after an earlier part of a block, where the call that shows the next part proves that they would
 * answer the same: it also gives a digest of each pool's answers. So a part that changes no pool is read by one call.
 *
 * 1. Storage of the pool, quote of its provider, stop loss, balances and code are in the digest, in one state with the
 *    part. The pool's prices are made of these by its code; of a pool that once gave others, each part is read.
 * 2. Answers are used again in their block alone: time and number of the block are the same.
 * 3. While most pools change with each part, none are read: that would cost time for nothing.
 */
export class UnchangedAnswers {
  readonly #now: Clock;
  readonly #known = new LRUCache<Address, KnownAnswers>({ max: MAX_POOLS });
  readonly #unproven = new LRUCache<Address, true>({ max: MAX_POOLS });
  /** By the part that the call showed. */
  readonly #digests = new LRUCache<string, ReadonlyMap<Address, Hex>>({ max: MAX_VIEWS });
  /** How many pools were others after the last part. */
  #last = { state: '', changed: 0, same: 0 };
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(now: Clock) {
    this.#now = now;
  }

  /** The calls to make in the next one that shows a part. @param pushed number of its block, where a node pushed it */
  next(pushed: bigint | undefined): DigestCalls {
    const { changed, same } = this.#last;
    if (this.#now() < this.#pausedUntil || changed > same) return NO_CALLS;
    const known = [...this.#known.values()].filter(({ answers, pool }) => this.#isProvable(pool, answers));
    const newest = known.reduce((most, { block }) => maxBigint(most, block.blockNumber), 0n);
    if (pushed !== undefined && pushed !== newest) return NO_CALLS;
    const due = known.filter(({ block }) => block.blockNumber === newest);
    const [first = []] = packCalls(due.map((each) => [callOf(each)]));
    const pools = due.slice(0, first.length).map(({ pool }) => pool);
    return { pools, calls: first.flat(), code: digestCode(pools) };
  }

  /** Notes what a call showed. @param results of {@link next} */
  show(view: PartView, { pools }: DigestCalls, results: readonly CallResult[]): void {
    if (pools.length === 0) return;
    const digests = new Map<Address, Hex>();
    for (const [index, { address }] of pools.entries()) {
      const digest = results[index] && readDigest(results[index]);
      if (digest) digests.set(address, digest);
    }
    if (digests.size === 0) this.rejected();
    this.#digests.set(viewDigest(view), digests);
  }

  /** Notes that nodes did not make the calls. */
  rejected(): void {
    this.#pausedUntil = this.#now() + PAUSED_MS;
  }

  /** What a pool answers at a block; undefined where that has to be read. */
  at({ pending }: BlockRef, pool: ServedPool): PoolAnswers | undefined {
    const digest = pending && this.#digests.get(pending.digest)?.get(pool.address);
    const known = digest && this.#known.get(pool.address);
    if (!known || known.pool !== pool || !isSameBlock(known.block, pending)) return undefined;
    if (digestOf(known) !== digest || !this.#isProvable(pool, known.answers)) return undefined;
    this.#count(pending.digest, false);
    return known.answers;
  }

  /** Notes what a pool answered at a block. */
  note({ pending }: BlockRef, pool: ServedPool, answers: PoolAnswers): void {
    if (!pending?.part) return;
    const before = this.#known.get(pool.address);
    const known = { pool, block: pending, answers };
    this.#known.set(pool.address, known);
    if (before?.pool !== pool || !isSameBlock(before.block, pending)) return;
    const isSame = digestOf(before) === digestOf(known);
    this.#count(pending.digest, !isSame);
    const [[priceBefore], [price]] = [before.answers.prices ?? [], answers.prices ?? []];
    if (isSame && priceBefore?.data !== price?.data) this.#unproven.set(pool.address, true);
  }

  #count(state: string, hasChanged: boolean): void {
    const last = this.#last.state === state ? this.#last : { state, changed: 0, same: 0 };
    last[hasChanged ? 'changed' : 'same'] += 1;
    this.#last = last;
  }

  /** Whether the same digest means the same answers. */
  #isProvable({ address }: ServedPool, { storage, quote, prices, transfers = [] }: PoolAnswers): boolean {
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

import type { Address } from 'viem';
import type { BlockRef, ReportedHead } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { PendingState, StateOverrides } from '../../chain/pending-state.ts';
import type { RpcFailure } from '../../chain/rpc-failure.ts';
import { liveMaxAgeMs } from '../../config/live-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ChainTail } from '../heads/chain-tail.ts';
import type { HeadListener } from '../heads/head-tracker.ts';
import type { Heads } from '../heads/heads.ts';
import { MAX_AHEAD } from './frame-merger.ts';
import type { LiveChain, LiveFeed } from './live-feed.ts';
import type { LiveObserver } from './live-metrics.ts';
import type { PendingOverrides } from './sourced-block.ts';

export interface LiveHeadsDeps {
  readonly committed: Heads;
  readonly feed: Pick<LiveFeed, 'state' | 'onFrame'>;
  /** The accounts whose overrides no source may replace, such as pools and tokens; while they are unknown, no overrides are used. */
  readonly protectedAccounts: () => ReadonlySet<Address> | undefined;
  readonly observer?: LiveObserver | undefined;
  readonly logger: Pick<Logger, 'warn'>;
  readonly now?: Clock;
}

/** Shortest time between two states of the same committed block that are taken, and that listeners get. */
const TAKE_MS = 100;
const ANNOUNCE_MS = 250;
/** For this long overrides are not used after nodes refused them, or ignored them. */
const REFUSED_MS = 1_000;
const IGNORED_MS = 60_000;

interface Taken {
  readonly committed: ReportedHead;
  /** The committed head, or the block that is being built on it. */
  readonly head: ReportedHead;
  readonly at: number;
}

/**
 * Gives the block that is being built, as a head: the committed head with the overrides of sources on top. Without overrides
 * that hold, it gives the committed head.
 *
 * Invariants:
 * 1. The block being built is above all blocks that were seen, and at most two above the committed head. Its number never
 *    goes back unless the chain does.
 * 2. Its overrides are younger than `maxAgeMs`.
 * 3. A new committed head replaces it at once.
 */
export class LiveHeads implements Heads {
  readonly #deps: LiveHeadsDeps;
  readonly #blockTimeMs: number;
  readonly #maxAgeMs: number;
  readonly #now: Clock;
  readonly #listeners = new Set<HeadListener<ReportedHead>>();
  #taken: Taken | undefined;
  #branch: ChainTail | undefined;
  /** The highest block that was given as being built on this branch. */
  #highest = -1n;
  #watchers = 0;
  /** What listeners have: requests may have had another head since, also one and this again. */
  #announced: Taken | undefined;
  #announcedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #suspendedUntil = Number.NEGATIVE_INFINITY;

  constructor({ blockTimeMs, live }: LiveChain, deps: LiveHeadsDeps) {
    this.#deps = deps;
    this.#blockTimeMs = blockTimeMs;
    this.#maxAgeMs = liveMaxAgeMs(live, blockTimeMs);
    this.#now = deps.now ?? (() => performance.now());
    deps.committed.onHead((_, branch) => {
      this.#branch = branch;
      this.#announce();
    });
    deps.feed.onFrame(() => {
      if (this.#watchers > 0) this.#announceAfter(this.#announcedAt + ANNOUNCE_MS - this.#now());
    });
  }

  get current(): ReportedHead | undefined {
    return this.#on(this.#deps.committed.current);
  }

  get top(): bigint {
    return this.#deps.committed.top;
  }

  get announced(): ReportedHead | undefined {
    return this.#on(this.#deps.committed.announced);
  }

  fresh(): ReportedHead | undefined {
    return this.#on(this.#deps.committed.fresh());
  }

  /** Throws as the committed one does. */
  async head(): Promise<ReportedHead> {
    return this.#on(await this.#deps.committed.head());
  }

  /** Whether a block is too old, or was being built and is not any more, or its overrides are too old. */
  isTooOld(block: BlockRef): boolean {
    const { committed } = this.#deps;
    if (committed.isTooOld(block)) return true;
    const { pending, hash } = block;
    if (!pending) return false;
    return committed.current?.block.hash !== hash || !this.#holds(pending, block);
  }

  onHead(listener: HeadListener<ReportedHead>): void {
    this.#listeners.add(listener);
  }

  watch(): () => void {
    const stopWatching = this.#deps.committed.watch();
    this.#watchers += 1;
    return () => {
      this.#watchers -= 1;
      if (this.#watchers === 0) clearTimeout(this.#timer);
      stopWatching();
    };
  }

  reject(head: ReportedHead): void {
    this.#deps.committed.reject(head);
  }

  /** Gives only committed heads for a while, after nodes refused or ignored the overrides of a head. Counts and logs that. */
  suspend({ block }: ReportedHead, failure: RpcFailure): void {
    if (failure.code !== 'refused' && failure.code !== 'ignored') return;
    // Nodes also refuse a block that was reorganised away.
    if (this.#deps.committed.current?.block.hash !== block.hash) return;
    if (this.#now() >= this.#suspendedUntil) {
      this.#deps.observer?.suspended();
      const what = 'nodes do not read the block that is being built: prices are committed';
      this.#deps.logger.warn({ err: failure }, what);
    }
    this.#suspendedUntil = this.#now() + (failure.code === 'ignored' ? IGNORED_MS : REFUSED_MS);
  }

  /** The committed head with the overrides that hold now, else the head itself. The same state gives the same object. */
  #on(head: ReportedHead): ReportedHead;
  #on(head: ReportedHead | undefined): ReportedHead | undefined;
  #on(head: ReportedHead | undefined): ReportedHead | undefined {
    if (!head) return undefined;
    const now = this.#now();
    const taken = this.#taken;
    const wentBack = taken && taken.committed !== head && head.block.number <= taken.committed.block.number;
    if (wentBack) this.#highest = -1n;
    const state = this.#deps.feed.state();
    const overrides = state && this.#isUsable(state, head.block) ? state : undefined;
    if (taken && taken.committed === head) {
      const { pending } = taken.head.block;
      if (pending?.digest === overrides?.digest) return taken.head;
      const isRecent = now - taken.at < TAKE_MS && pending?.blockNumber === overrides?.blockNumber;
      if (isRecent && !this.isTooOld(taken.head.block)) return taken.head;
    }
    if (overrides) this.#highest = overrides.blockNumber;
    const pending = overrides && this.#pending(head.block, overrides);
    this.#taken = { committed: head, head: pending ? { ...head, block: { ...head.block, pending } } : head, at: now };
    return this.#taken.head;
  }

  #pending(block: BlockRef, state: PendingOverrides): PendingState {
    const { protectedAccounts, feed } = this.#deps;
    const isKept = protectedAccounts();
    const usable = (overrides: StateOverrides): StateOverrides =>
      new Map([...overrides].filter(([account]) => !isKept?.has(account)));
    const republished =
      state.republished && new Map([...state.republished].map(([venue, overrides]) => [venue, usable(overrides)]));
    const { blockNumber, digest } = state;
    const secsAhead = Math.round((Number(blockNumber - block.number) * this.#blockTimeMs) / 1_000);
    let { receivedAt } = state;
    return {
      blockNumber,
      timestamp: state.timestamp ?? block.timestamp + BigInt(secsAhead),
      overrides: usable(state.overrides),
      republished,
      digest,
      get receivedAt() {
        const newest = feed.state();
        if (newest?.digest === digest) receivedAt = newest.receivedAt;
        return receivedAt;
      },
    };
  }

  #isUsable(state: PendingOverrides, head: BlockRef): boolean {
    const isKnown = this.#deps.protectedAccounts() !== undefined;
    return isKnown && this.#now() >= this.#suspendedUntil && this.#holds(state, head);
  }

  /** Whether a block may be the one that is being built on this head, and its overrides are young. */
  #holds({ blockNumber, receivedAt }: Pick<PendingState, 'blockNumber' | 'receivedAt'>, { number }: BlockRef): boolean {
    const { top } = this.#deps.committed;
    const isAhead = blockNumber > number && blockNumber > top && blockNumber - number <= MAX_AHEAD;
    return isAhead && blockNumber >= this.#highest && this.#now() - receivedAt < this.#maxAgeMs;
  }

  #announceAfter(waitMs: number): void {
    clearTimeout(this.#timer);
    if (waitMs <= 0) this.#announce();
    else this.#timer = setTimeout(() => this.#announce(), waitMs).unref();
  }

  /** Gives listeners the head as it is now, and again when its overrides become too old. */
  #announce(): void {
    clearTimeout(this.#timer);
    const head = this.current;
    if (!head || !this.#branch) return;
    if (this.#taken !== this.#announced) {
      this.#announced = this.#taken;
      this.#announcedAt = this.#now();
      for (const listener of this.#listeners) listener(head, this.#branch);
    }
    const { pending } = head.block;
    if (pending && this.#watchers > 0)
      this.#announceAfter(Math.max(ANNOUNCE_MS, pending.receivedAt + this.#maxAgeMs - this.#now()));
  }
}

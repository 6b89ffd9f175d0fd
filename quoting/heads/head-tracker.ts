import type { Hex } from 'viem';
import type { BlockHeader, BlockRef } from '../../chain/read-context.ts';
import { Alarm } from '../../runtime/alarm.ts';
import type { Clock, Clocks } from '../../runtime/clock.ts';
import { pause } from '../../runtime/pause.ts';
import { BlockTooOldError } from '../snapshot-error.ts';
import type { ChainTail } from './chain-tail.ts';
import {
  announcedHead,
  awaited,
  type Headed,
  type HeadPace,
  heightOf,
  isPollDue,
  isTooOld,
  isWaitDue,
  isWaitOver,
  noHeads,
} from './head-state.ts';
import { hasHeard } from './heard-heads.ts';
import { type HeadEvent, nextHeads } from './next-heads.ts';

/** Gives the head of the first node that answers, or the heads of all nodes that do but the one that gave a head. */
export interface HeadSource<H extends Headed> {
  head(): Promise<H>;
  otherHeads(head: H): Promise<H[]>;
  /** A block below a head. */
  header(hash: Hex, number: bigint): Promise<BlockHeader>;
}

/**
 * Takes a new head; must not throw. Requests wait for a promise that it gives, if other processes read the chain too.
 * The head's parents reach down to the block that it shares with the previous head, if that block is near.
 *
 * @param branch the head and the blocks below it, from which follows which blocks of an earlier branch were replaced
 */
export type HeadListener<H> = (head: H, branch: ChainTail) => unknown;

export type HeadTrackerOptions = HeadPace & Clocks;

/**
 * Gives the block to read at. Nodes push heads to it. Without pushes it polls the chain, at most every `minRefreshMs`,
 * when a request asks or while anyone watches. It does at the right time what {@link nextHeads} says, and never gives a
 * block to read at that is older than `maxAgeMs`.
 */
export class HeadTracker<H extends Headed> {
  readonly #source: HeadSource<H>;
  readonly #pace: HeadPace;
  readonly #now: Clock;
  readonly #wallClock: Clock;
  readonly #listeners = new Set<HeadListener<H>>();
  #state = noHeads<H>();
  /** The poll in flight. */
  #poll: PromiseWithResolvers<H> | undefined;
  /** Resolves when other processes know of the head. */
  #announced: Promise<unknown> = Promise.resolve();
  /** Requests that wait for a height. */
  readonly #waits = new Set<{ readonly number: bigint; readonly end: () => void }>();
  readonly #alarm = new Alarm(() => this.#take({ kind: 'time' }));

  constructor(source: HeadSource<H>, options: HeadTrackerOptions) {
    const { blockTimeMs, minRefreshMs, now, wallClock } = options;
    this.#source = source;
    this.#pace = { blockTimeMs, minRefreshMs, maxAgeMs: options.maxAgeMs };
    this.#now = now;
    this.#wallClock = wallClock;
  }

  /** The last head known, however old. */
  get current(): H | undefined {
    return this.#state.current;
  }

  /** Height of the last block that was seen, even if it is not taken yet. */
  get top(): bigint {
    return this.#state.seen.top;
  }

  /** Whether another process took the block after `top`. */
  get isPassed(): boolean {
    return hasHeard(this.#state.heard, this.top + 1n);
  }

  /** The head that nodes reported recently, however old its block is: nodes may stand still. Never starts a poll. */
  get announced(): H | undefined {
    return announcedHead(this.#state, this.#now());
  }

  /** Whether a block is too old, by wall-clock time, for a quote to be given now. */
  isTooOld(block: BlockRef): boolean {
    return isTooOld(block, this.#wallClock(), this.#pace);
  }

  /** The head if it is fresh enough to be used without waiting. Starts a poll in the background when one is due. */
  fresh(): H | undefined {
    this.#take({ kind: 'asked', waits: false, wallMs: this.#wallClock() });
    return this.#readable;
  }

  /**
   * The head to read at.
   *
   * @throws what the source throws when no node answers, and SnapshotError when the newest block is too old
   */
  async head(): Promise<H> {
    const now = this.#take({ kind: 'asked', waits: true, wallMs: this.#wallClock() });
    const readable = this.#readable;
    if (readable) return readable;
    // Where nodes stand still, requests do not make polls more frequent.
    const head = isPollDue(this.#state, now) ? await this.#poll?.promise : this.current;
    if (head && !this.isTooOld(head.block)) return head;
    throw new BlockTooOldError('the newest block is too old');
  }

  /** Calls the listener for every head that is taken. @returns ends that */
  onHead(listener: HeadListener<H>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Sees heads without a request: polls whenever a poll is due, and continues after failures.
   *
   * @returns ends the watch
   */
  watch(): () => void {
    this.#take({ kind: 'watched' });
    let isWatching = true;
    return () => {
      if (isWatching) this.#take({ kind: 'unwatched' });
      isWatching = false;
    };
  }

  /** Takes a head that a socket pushed. It is judged like a polled head, and no poll is due while more are pushed. */
  push(head: H): void {
    this.#take({ kind: 'pushed', head, wallMs: this.#wallClock() });
  }

  /** Takes a head at which another process has read, if it is higher: that process may be on another branch. */
  pushShared(head: H): void {
    this.#take({ kind: 'shared', head, wallMs: this.#wallClock() });
  }

  /** Takes note of the height that another process has come to. */
  hear(from: string, number: bigint): void {
    this.#take({ kind: 'heard', from, number });
  }

  /** Whether a request is to wait for {@link caughtUp}. */
  get isBehind(): boolean {
    return isWaitDue(this.#state, this.#now());
  }

  /**
   * Waits, where other processes read the chain too: until they know of the head, and for the nodes, if another process
   * has come to a higher block, which a reader may have seen there.
   *
   * @returns whether the nodes were behind, and have come as far
   */
  async caughtUp(): Promise<boolean> {
    if (!this.isBehind) return false;
    await this.#announced;
    const now = this.#now();
    const height = awaited(this.#state, now);
    if (!height) return false;
    const over = new AbortController();
    const wait = { number: height.number, end: () => over.abort() };
    this.#waits.add(wait);
    const stopWatching = this.watch();
    await pause(height.until - now, over.signal);
    stopWatching();
    this.#waits.delete(wait);
    return heightOf(this.#state) >= height.number;
  }

  /** Takes note that nodes gave what was read at a block. */
  confirm(block: BlockRef): void {
    if (this.#state.readAt !== block.hash) this.#take({ kind: 'read', block });
  }

  /** Whether nodes gave what was read at a block, which is the last one that was read at. */
  isConfirmed({ hash }: BlockRef): boolean {
    return this.#state.readAt === hash;
  }

  /**
   * Makes a poll due, as nodes refused to read at this head. If nothing was read at it, goes back to the previous one.
   *
   * @returns whether it is not the head any more
   */
  reject({ block }: H): boolean {
    this.#take({ kind: 'rejected', block });
    return this.current?.block.hash !== block.hash;
  }

  get #readable(): H | undefined {
    const { announced } = this;
    return announced && !this.isTooOld(announced.block) ? announced : undefined;
  }

  /** @returns when it happened */
  #take(event: HeadEvent<H>): number {
    const now = this.#now();
    const [state, { taken, polled, poll, lookUp, wakeAt }] = nextHeads(this.#state, event, now, this.#pace);
    this.#state = state;
    this.#alarm.set(wakeAt, now);
    if (polled) this.#endPoll((waiting) => waiting.resolve(polled));
    if (poll) this.#startPoll(state.poll?.first);
    if (lookUp) {
      const header = this.#source.header(lookUp.hash, lookUp.number).catch(() => undefined);
      void header.then((found) => this.#take({ kind: 'header', header: found }));
    }
    // Last: a listener may ask for the head, which may start the next poll.
    for (const { head, branch } of taken) this.#announce(head, branch);
    if (this.#waits.size > 0) this.#endWaits(now);
    return now;
  }

  #announce(head: H, branch: ChainTail): void {
    this.#announced = Promise.all([...this.#listeners].map((listener) => listener(head, branch)));
    void this.#announced.then(() => this.#take({ kind: 'announced', head }));
  }

  #endWaits(now: number): void {
    for (const { number, end } of this.#waits) if (isWaitOver(this.#state, number, now)) end();
  }

  /** @param first that of the node that was polled before the others */
  #startPoll(first: H | undefined): void {
    if (!first) {
      this.#poll = Promise.withResolvers();
      this.#poll.promise.catch(() => undefined); // Requests that wait for it see its failure.
    }
    const heads = first ? this.#source.otherHeads(first) : this.#source.head().then((head) => [head]);
    heads.then(
      (found) => this.#take({ kind: 'polled', heads: found }),
      (error) => {
        this.#take({ kind: 'failed' });
        this.#endPoll((waiting) => waiting.reject(error));
      },
    );
  }

  #endPoll(settle: (poll: PromiseWithResolvers<H>) => void): void {
    const poll = this.#poll;
    this.#poll = undefined;
    if (poll) settle(poll);
  }
}

import type { Address } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { PendingState } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { RpcFailure } from '../../chain/rpc-failure.ts';
import { liveMaxAgeMs, partSource } from '../../config/live-schema.ts';
import { Alarm } from '../../runtime/alarm.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { HeadListener } from '../heads/head-tracker.ts';
import type { Heads } from '../heads/heads.ts';
import type { Snapshot } from '../types.ts';
import type { LiveChain, LiveFeed } from './live-feed.ts';
import { type LiveInputs, type LivePace, lastReceived, noLiveHead } from './live-head-state.ts';
import type { LiveObserver } from './live-metrics.ts';
import { type LiveEvent, nextLiveHead } from './next-live-head.ts';
import { holds } from './take-head.ts';

export interface LiveHeadsDeps {
  readonly committed: Heads;
  readonly feed: Pick<LiveFeed, 'state' | 'onFrame'> & {
    /** Called when somebody asks for the head. */
    want?(): void;
  };
  /**
   * The accounts whose overrides no source may replace, such as pools and tokens; while they are unknown,
   * no overrides are used.
   */
  readonly protectedAccounts: () => ReadonlySet<Address> | undefined;
  readonly observer?: LiveObserver | undefined;
  readonly logger: Pick<Logger, 'warn'>;
  readonly now: Clock;
}

/** Shortest time between two parts of a block. */
const MIN_PART_MS = 20;

/** Gives the block that is being built, as a head, and does at the right time what {@link nextLiveHead} says. */
export class LiveHeads implements Heads {
  readonly #deps: LiveHeadsDeps;
  readonly #pace: LivePace;
  readonly #now: Clock;
  readonly #listeners = new Set<HeadListener<ReportedHead>>();
  #state = noLiveHead;
  readonly #alarm = new Alarm(() => this.#wake());

  constructor({ blockTimeMs, live }: LiveChain, deps: LiveHeadsDeps) {
    this.#deps = deps;
    // Parts have their own pace.
    const spacingMs = partSource(live) && MIN_PART_MS;
    this.#pace = { blockTimeMs, maxAgeMs: liveMaxAgeMs(live, blockTimeMs), spacingMs };
    this.#now = deps.now;
    deps.committed.onHead((_, branch) => this.#take({ kind: 'committed', branch, inputs: this.#inputs() }));
    deps.feed.onFrame(() => this.#take({ kind: 'frame' }));
  }

  get current(): ReportedHead | undefined {
    return this.#on(this.#deps.committed.current);
  }

  get top(): bigint {
    return this.#deps.committed.top;
  }

  get isPassed(): boolean {
    return this.#deps.committed.isPassed;
  }

  get announced(): ReportedHead | undefined {
    return this.#on(this.#deps.committed.announced);
  }

  fresh(): ReportedHead | undefined {
    this.#deps.feed.want?.();
    return this.#on(this.#deps.committed.fresh());
  }

  /** Throws as the committed one does. */
  async head(): Promise<ReportedHead> {
    this.#deps.feed.want?.();
    const head = await this.#deps.committed.head();
    return this.#on(head) ?? head;
  }

  /** Whether a block is too old, or was being built and is not any more, or its overrides are too old. */
  isTooOld(block: BlockRef): boolean {
    const { committed } = this.#deps;
    if (committed.isTooOld(block)) return true;
    const { pending, hash, number } = block;
    if (!pending) return false;
    if (committed.current?.block.hash !== hash) return true;
    const on = { number, hash, top: this.top, highest: this.#state.highest };
    return !holds({ ...pending, receivedAt: this.#lastReceived(pending) }, on, this.#now(), this.#pace);
  }

  /** How old the overrides of a block are now, milliseconds: none at a committed block. */
  sourceAge({ pending }: BlockRef): Pick<Snapshot, 'sourceAgeMs'> {
    return pending ? { sourceAgeMs: Math.round(this.#now() - this.#lastReceived(pending)) } : {};
  }

  /** Merges what sources sent only now: many frames come while nobody asks. */
  #lastReceived(pending: PendingState): number {
    this.#take({ kind: 'merged', overrides: this.#deps.feed.state() });
    return lastReceived(this.#state, pending);
  }

  onHead(listener: HeadListener<ReportedHead>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watch(): () => void {
    const stopWatching = this.#deps.committed.watch();
    this.#take({ kind: 'watched' });
    return () => {
      this.#take({ kind: 'unwatched' });
      stopWatching();
    };
  }

  get isBehind(): boolean {
    return this.#deps.committed.isBehind;
  }

  caughtUp(): Promise<boolean> {
    return this.#deps.committed.caughtUp();
  }

  confirm(block: BlockRef): void {
    // A read after a part says nothing of the block below.
    if (!block.pending?.part) this.#deps.committed.confirm(block);
  }

  isConfirmed(block: BlockRef): boolean {
    return this.#deps.committed.isConfirmed(block);
  }

  reject(head: ReportedHead): boolean {
    return this.#deps.committed.reject(head);
  }

  /**
   * Gives only committed heads for a while, after nodes refused or ignored the overrides of a head.
   * Counts and logs that.
   *
   * @returns whether they may not have the committed block yet: nothing was read at it
   */
  suspend({ block }: ReportedHead, failure: RpcFailure): boolean {
    const { committed } = this.#deps;
    if (failure.code !== 'refused' && failure.code !== 'ignored') return false;
    // Nodes also refuse a block that was reorganised away.
    if (committed.current?.block.hash !== block.hash) return false;
    if (failure.code === 'refused' && !committed.isConfirmed(block)) return true;
    if (this.#take({ kind: 'rejected', by: failure.code }).isSuspended) {
      this.#deps.observer?.suspended();
      const what = 'nodes do not read the block that is being built: prices are committed';
      this.#deps.logger.warn({ err: failure }, what);
    }
    return false;
  }

  /** The head to give in place of a committed one. */
  #on(committed: ReportedHead | undefined): ReportedHead | undefined {
    if (!committed) return undefined;
    this.#take({ kind: 'asked', inputs: this.#inputs(committed) });
    return this.#state.taken?.head;
  }

  #inputs(head = this.#deps.committed.current): LiveInputs {
    const { committed, feed, protectedAccounts } = this.#deps;
    const overrides = feed.state();
    return { committed: head, top: committed.top, overrides, protectedAccounts: overrides && protectedAccounts() };
  }

  #take(event: LiveEvent) {
    const now = this.#now();
    const [state, effects] = nextLiveHead(this.#state, event, now, this.#pace);
    this.#state = state;
    // A request calls no listener, however late the alarm is.
    if (event.kind === 'frame' && state.wakeAt !== null && state.wakeAt <= now) this.#wake();
    else this.#alarm.set(state.wakeAt, now);
    const { announce } = effects;
    if (announce) for (const listener of this.#listeners) listener(announce.head, announce.branch);
    return effects;
  }

  #wake(): void {
    this.#take({ kind: 'time', inputs: this.#inputs() });
  }
}

import { setMaxListeners } from 'node:events';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import type { Heads } from '../heads/heads.ts';
import type { PoolDirectory, PoolTable, ServedPool } from '../pools/pool-directory.ts';
import { type SharedReads, UNSHARED } from '../reads/shared-reads.ts';
import { isExhausted, SnapshotError } from '../snapshot-error.ts';
import { type ChainSnapshots, QUOTE_KINDS } from '../types.ts';
import { nextWarm, TICK_MS } from './next-warm.ts';
import { readParts } from './read-parts.ts';
import type { RequestedPools } from './requested-pools.ts';
import type { WarmListener, WarmResult } from './warm-result.ts';
import type { WarmRead, WarmSchedule } from './warm-schedule.ts';
import { ASLEEP, type Coverage, type WarmEvent, type WarmStep } from './warm-state.ts';

export interface BlockWarmerDeps {
  readonly chainId: number;
  readonly requested: RequestedPools;
  /** Gives the block to read at. */
  readonly heads: Pick<Heads, 'announced' | 'head' | 'isTooOld' | 'onHead' | 'watch'>;
  readonly snapshots: ChainSnapshots;
  readonly directory: PoolDirectory;
  readonly schedule: Pick<WarmSchedule, 'plan' | 'settle' | 'markRead'>;
  /** Reads that processes share. Default: none. */
  readonly shared?: Pick<SharedReads, 'claim' | 'end'> | undefined;
  /** Whether the depth of a pool is not read ahead for anonymous clients. */
  readonly isReadForKeys: (pool: ServedPool) => boolean;
  /**
   * For so long after its last read a pool that the budget has no calls for is not reported, milliseconds. Default: 0.
   */
  readonly keepMs?: number;
  readonly logger: Logger;
  readonly now: Clock;
}

type Step<K extends WarmStep['kind']> = Extract<WarmStep, { readonly kind: K }>;

/** Longest run: what is not read by then is reported as `timed_out`. */
const RUN_MS = 3_000;
const unreachable = (cause: unknown) => new SnapshotError('timed_out', 'no node gives the head', { cause });

/** Reads the requested pools of one chain at each head: does at the right time what {@link nextWarm} says. */
export class BlockWarmer {
  readonly #deps: BlockWarmerDeps;
  readonly #shared: Pick<SharedReads, 'claim' | 'end'>;
  readonly #listeners = new Set<WarmListener>();
  #state = ASLEEP;
  /** The last step of a run. */
  #step: Promise<void> = Promise.resolve();
  #stopWatching: (() => void) | undefined;
  #table: PoolTable | undefined;

  constructor(deps: BlockWarmerDeps) {
    this.#deps = deps;
    this.#shared = deps.shared ?? UNSHARED;
    deps.heads.onHead((head, branch) => this.#take({ kind: 'head', head, branch }));
    deps.requested.onRequested(() => this.#take({ kind: 'requested' }));
  }

  /** Of the last head whose run is over. */
  get coverage(): Coverage {
    return this.#state.coverage;
  }

  /** Calls the listener with the results of each run, prices first. */
  onResult(listener: WarmListener): void {
    this.#listeners.add(listener);
  }

  /** Stops reading. Resolves when the run in progress is over. */
  async close(): Promise<void> {
    this.#take({ kind: 'closed' });
    while (this.#state.run) await this.#step;
  }

  #take(event: WarmEvent): void {
    const { now, keepMs = 0 } = this.#deps;
    const [state, { watch, results, step }] = nextWarm(this.#state, event, now(), keepMs);
    this.#state = state;
    if (watch !== null) this.#stopWatching?.();
    if (watch !== null) this.#stopWatching = watch ? this.#watch() : undefined;
    for (const result of results) this.#publish(result);
    if (step) this.#step = this.#perform(step);
  }

  /** What a listener throws is logged: the others, and the run, go on. */
  #publish(result: WarmResult | null): void {
    for (const listener of this.#listeners) {
      try {
        listener(result);
      } catch (err) {
        this.#deps.logger.error({ err }, 'a listener of requested pools failed');
      }
    }
  }

  /** Sees heads without a request, and notes time that passes. @returns ends it */
  #watch(): () => void {
    const { heads } = this.#deps;
    const stop = heads.watch();
    const tick = () => {
      const block = heads.announced?.block;
      this.#take({ kind: 'tick', isOutdated: !block || heads.isTooOld(block) });
    };
    const ticks = setInterval(tick, TICK_MS).unref();
    return () => {
      stop();
      clearInterval(ticks);
    };
  }

  async #perform(step: WarmStep): Promise<void> {
    const event = await this.#eventOf(step).catch((err): WarmEvent => {
      this.#deps.logger.error({ err }, 'failed to read requested pools');
      return { kind: 'failed' };
    });
    this.#take(event);
  }

  async #eventOf(step: WarmStep): Promise<WarmEvent> {
    const { requested, heads, directory } = this.#deps;
    switch (step.kind) {
      case 'begin':
        // One run reads all pools that become requested in this turn of the event loop.
        await null;
        return { kind: 'begun', isRequested: requested.own().length > 0 };
      case 'locate':
        this.#table = await directory.table();
        return { kind: 'located', newest: await heads.head().catch(unreachable) };
      case 'list': {
        const isShared = step.mayShare && (await this.#shared.claim(step.block));
        return { kind: 'listed', isShared, reads: this.#list(isShared) };
      }
      case 'read':
        await withTimeLimit(RUN_MS, (signal) => this.#read(step, signal));
        return { kind: 'read' };
      case 'end':
        if (step.isShared) await this.#shared.end(step.block);
        return { kind: 'ended', ahead: this.#ahead(step.reads) };
    }
  }

  #list(isShared: boolean): WarmRead[] {
    const { requested, chainId } = this.#deps;
    return (isShared ? requested.list() : requested.own()).flatMap((request): WarmRead[] => {
      const pool = this.#table?.find(chainId, request.address);
      return pool ? [{ ...request, pool }] : [];
    });
  }

  async #read({ head, reads, pending }: Step<'read'>, signal: AbortSignal): Promise<void> {
    const { schedule, snapshots } = this.#deps;
    const available = pending.filter(({ pool, kind }) => snapshots.isRead(pool, kind));
    const missing = new Set(pending).difference(new Set(available));
    const batches = schedule.plan(this.#ahead(reads), (read) => missing.has(read));
    for (const read of available) schedule.markRead(read);
    // Each batch listens to the signal, and Node warns of more than ten listeners.
    setMaxListeners(0, signal);
    const parts = [
      { reads: available, at: head },
      ...batches.map(({ reads, reserve }) => ({ reads, at: { ...head, reserve } })),
    ];
    const outcomesOf = readParts(snapshots, parts, signal);
    const exhausted = new Set<WarmRead>();
    for (const kind of QUOTE_KINDS) {
      const outcomes = await outcomesOf[kind];
      for (const read of pending) {
        if (read.kind === kind && isExhausted(outcomes.get(read.address))) exhausted.add(read);
      }
      this.#take({ kind: 'outcomes', of: kind, outcomes });
    }
    for (const batch of batches) schedule.settle(batch, (read) => !exhausted.has(read));
  }

  /** The reads without those of pools whose depth is read for keys only, while no client with a key requests them. */
  #ahead(reads: readonly WarmRead[]): WarmRead[] {
    return reads.filter(({ pool, kind, byKey }) => kind === 'prices' || byKey || !this.#deps.isReadForKeys(pool));
  }
}

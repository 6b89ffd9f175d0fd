import { setMaxListeners } from 'node:events';
import type { Address } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ChainTail } from '../heads/chain-tail.ts';
import type { Heads } from '../heads/heads.ts';
import type { PoolDirectory, ServedPool } from '../pools/pool-directory.ts';
import { type SharedReads, UNSHARED } from '../reads/shared-reads.ts';
import { isExhausted, SnapshotError } from '../snapshot-error.ts';
import type { CurveReport } from '../snapshot-metrics.ts';
import { type ChainSnapshots, QUOTE_KINDS, type QuoteKind, type Snapshot } from '../types.ts';
import { readParts } from './read-parts.ts';
import type { RequestedPool, RequestedPools } from './requested-pools.ts';
import { WarmProgress } from './warm-progress.ts';
import type { WarmListener } from './warm-result.ts';
import type { WarmRead, WarmSchedule } from './warm-schedule.ts';
import { watchHeads } from './watch-heads.ts';

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
  /** How the curve of a pool became known at its last read; undefined before, and where fees are public. */
  readonly curveMethodOf: (pool: ServedPool) => CurveReport['method'] | undefined;
  /** For so long after its last read a pool that the budget has no calls for is not reported, milliseconds. Default: 0. */
  readonly keepMs?: number;
  readonly logger: Logger;
  readonly now: Clock;
}

interface SeenHead {
  readonly head: ReportedHead;
  readonly branch: ChainTail;
  readonly seenAt: number;
}

/** Longest run: what is not read by then is reported as `timed_out`. */
const RUN_MS = 3_000;
/** Whether depth is not read ahead for anonymous clients, since each level is simulated. */
export const isReadForKeys = (method: CurveReport['method'] | undefined): boolean =>
  method === 'simulation' || method === 'none';

/** Whether it is the chain, not the pool, that gave no snapshot. */
const mayRetry = ({ code, cause }: SnapshotError): boolean => code === 'timed_out' || cause instanceof RpcFailure;
const notRead = () => new SnapshotError('timed_out', 'the pool was not read at this block');
const unreachable = (cause: unknown) => new SnapshotError('timed_out', 'no node gives the head', { cause });

/**
 * Reads the requested pools of one chain at each head.
 *
 * 1. It reads one head after the other. Of heads that come during a run, it reads only the newest.
 * 2. It reads pools that become requested between two heads at the last head.
 * 3. Without requested pools, the head is not polled.
 */
export class BlockWarmer {
  readonly #deps: BlockWarmerDeps;
  readonly #shared: Pick<SharedReads, 'claim' | 'end'>;
  readonly #now: Clock;
  readonly #listeners = new Set<WarmListener>();
  #seen: SeenHead | undefined;
  readonly #progress: WarmProgress;
  /** Ends the polls and retries that run while pools are requested. */
  #stopWatching: (() => void) | undefined;
  /** Of the last run, what was not read at its state. */
  #undone: readonly WarmRead[] = [];
  #isDue = false;
  #running: Promise<void> | undefined;
  #isClosed = false;
  /**
   * Counts of the last head whose run is over: requested pools, without those that are read for keys only, and how many
   * of these were not read.
   */
  coverage = { requested: 0, unread: 0 };

  constructor(deps: BlockWarmerDeps) {
    this.#deps = deps;
    this.#progress = new WarmProgress(deps.keepMs ?? 0);
    this.#shared = deps.shared ?? UNSHARED;
    this.#now = deps.now;
    deps.heads.onHead((head, branch) => this.#takeHead(head, branch));
    deps.requested.onRequested(() => this.#run());
  }

  /** Calls the listener with the results of each run, prices first. */
  onResult(listener: WarmListener): void {
    this.#listeners.add(listener);
  }

  /** Stops reading. Resolves when the run in progress is over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sleep();
    await this.#running;
  }

  #takeHead(head: ReportedHead, branch: ChainTail): void {
    this.#seen = { head, branch, seenAt: this.#now() };
    if (this.#stopWatching) this.#run();
  }

  /** Runs until nothing is due. A call during a run makes another run follow. */
  #run(): void {
    if (this.#isClosed) return;
    this.#isDue = true;
    this.#running ??= this.#runAll().finally(() => {
      this.#running = undefined;
    });
  }

  async #runAll(): Promise<void> {
    // One run reads all pools that become requested in this turn of the event loop.
    await null;
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      await this.#runOnce().catch((error) => this.#deps.logger.error({ err: error }, 'failed to read requested pools'));
    }
  }

  async #runOnce(): Promise<void> {
    const { chainId, requested, heads, directory } = this.#deps;
    if (requested.own().length === 0) return this.#sleep();
    this.#stopWatching ??= this.#watch();
    const table = await directory.table();
    // A new head arrives through `onHead`.
    const newest = await heads.head().catch(unreachable);
    const failure = newest instanceof SnapshotError ? newest : null;
    let seen = this.#seen;
    if (!seen) return;
    // Overrides of a block may be newer than those that were seen.
    if (newest && !(newest instanceof SnapshotError) && newest.block.hash === seen.head.block.hash) {
      seen = { ...seen, head: newest };
    }
    this.#isDue = false;
    const isForAll = failure === null && (await this.#shared.claim(seen.head.block));
    const reads = (isForAll ? requested.list() : requested.own()).flatMap((request): WarmRead[] => {
      const pool = table.find(chainId, request.address);
      return pool ? [{ ...request, pool }] : [];
    });
    await this.#readAt(seen, reads, failure);
    if (isForAll) await this.#shared.end(seen.head.block);
    const ahead = reads.filter((read) => !this.#isForKeys(read));
    this.#undone = ahead.filter((read) => !this.#progress.isDone(read));
    this.coverage = {
      requested: poolCount(ahead),
      unread: poolCount(this.#undone.filter((read) => !this.#isKept(read, seen.head.block))),
    };
  }

  /** @param failure why there is no head to read at */
  async #readAt(seen: SeenHead, reads: readonly WarmRead[], failure: SnapshotError | null): Promise<void> {
    const state = failure ? '' : stateOf(seen.head.block);
    const isNew = this.#progress.begin(state);
    if (failure) for (const kind of QUOTE_KINDS) this.#report(seen, kind, reads, () => failure);
    else if (isNew || reads.some((read) => !this.#progress.isDone(read))) await this.#read(seen, reads);
  }

  async #read(seen: SeenHead, requested: readonly WarmRead[]): Promise<void> {
    const { schedule, snapshots } = this.#deps;
    const { head } = seen;
    this.#progress.keepOnly(requested);
    const pending = requested.filter((read) => !this.#progress.isDone(read));
    const isAvailable = (read: WarmRead) => this.#progress.isDone(read) || snapshots.isRead(read.pool, read.kind);
    const available = pending.filter(isAvailable);
    const ahead = requested.filter((read) => !this.#isForKeys(read));
    const batches = schedule.plan(ahead, (read) => !isAvailable(read));
    for (const read of available) schedule.markRead(read);
    const signal = AbortSignal.timeout(RUN_MS);
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
      this.#report(seen, kind, pending, (read) => {
        const outcome = outcomes.get(read.address);
        if (isExhausted(outcome)) exhausted.add(read);
        return this.#atBlock(head, read, outcome);
      });
    }
    for (const batch of batches) schedule.settle(batch, (read) => !exhausted.has(read));
  }

  /** Whether the pool is not read ahead: every level of it is simulated, and no client with a key requests it. */
  #isForKeys({ pool, kind, byKey }: WarmRead): boolean {
    return kind === 'depths' && !byKey && isReadForKeys(this.#deps.curveMethodOf(pool));
  }

  /** What to report of a read; undefined: nothing new. */
  #atBlock({ block }: ReportedHead, read: WarmRead, outcome: Snapshot | SnapshotError | undefined) {
    if (outcome && !(outcome instanceof SnapshotError) && outcome.block.hash === block.hash) {
      this.#progress.note(read, outcome.block, this.#now());
      this.#progress.markDone(read, block);
      return outcome;
    }
    const error = outcome instanceof SnapshotError && !isExhausted(outcome) ? outcome : notRead();
    return mayRetry(error) && this.#isKept(read, block) ? undefined : error;
  }

  #isKept(read: RequestedPool, block: BlockRef): boolean {
    return this.#progress.isKept(read, block, this.#now(), this.#isDue);
  }

  /** Reports to listeners what became of the reads of one kind. */
  #report(
    { head: { block }, branch, seenAt }: SeenHead,
    kind: QuoteKind,
    reads: readonly WarmRead[],
    outcomeOf: (read: WarmRead) => Snapshot | SnapshotError | undefined,
  ): void {
    const outcomes = new Map<Address, Snapshot | SnapshotError>();
    for (const read of reads) {
      const outcome = read.kind === kind ? outcomeOf(read) : undefined;
      if (outcome) outcomes.set(read.address, outcome);
    }
    const readyAt = this.#now();
    for (const listener of this.#listeners) listener({ block, branch, kind, outcomes, seenAt, readyAt });
  }

  #watch(): () => void {
    const { heads, keepMs = 0 } = this.#deps;
    return watchHeads(heads, () => this.#run(), {
      isAtState: () => this.#progress.isAtState,
      // Nothing else may come when the budget has calls again, or when a read that was kept becomes too old.
      isRetryDue: () => keepMs > 0 && this.#undone.length > 0,
    });
  }

  #sleep(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    this.#progress.clear();
    this.#undone = [];
    this.coverage = { requested: 0, unread: 0 };
    for (const listener of this.#listeners) listener(null);
  }
}

const poolCount = (of: readonly RequestedPool[]): number => new Set(of.map(({ address }) => address)).size;

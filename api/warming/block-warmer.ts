import type { Address } from 'viem';
import type { BlockRef, ReportedHead } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CurveReport } from '../snapshots/curve-metrics.ts';
import type { PoolDirectory, ServedPool } from '../snapshots/pool-directory.ts';
import {
  type ChainSnapshots,
  isExhausted,
  type Snapshot,
  SnapshotError,
  type SnapshotMap,
} from '../snapshots/types.ts';
import { type QuoteKind, type RequestedPool, type RequestedPools, warmKey } from './requested-pools.ts';
import type { WarmRead, WarmSchedule } from './warm-schedule.ts';

export interface BlockWarmerDeps {
  readonly chainId: number;
  readonly requested: RequestedPools;
  readonly snapshots: ChainSnapshots;
  readonly directory: PoolDirectory;
  readonly schedule: Pick<WarmSchedule, 'plan' | 'settle' | 'markRead'>;
  /** How its curve became known last; undefined before, and where fees are public. */
  readonly rankOf: (pool: ServedPool) => CurveReport['rank'] | undefined;
  readonly logger: Logger;
  readonly now?: Clock;
}

/** What became of requested pools at one block. */
export interface WarmResult {
  readonly block: BlockRef;
  /** Lowest height whose block is known to be replaced since the result before; null when none is. */
  readonly replacedFrom: bigint | null;
  readonly kind: QuoteKind;
  /** Each snapshot is of this block. A pool that the budget had no calls for is `timed_out`, as one that came too late. */
  readonly outcomes: ReadonlyMap<Address, Snapshot | SnapshotError>;
  /** When the chain's head was seen and when the reads were done, by `performance.now()`. */
  readonly seenAt: number;
  readonly readyAt: number;
}

export type WarmListener = (result: WarmResult) => void;

/** How many pools are requested, without those that are read for keys only, and how many of them are not read. */
export interface Coverage {
  readonly requested: number;
  readonly unread: number;
}

interface SeenHead {
  readonly head: ReportedHead;
  readonly seenAt: number;
}

const NO_POOLS: Coverage = { requested: 0, unread: 0 };
const KINDS = ['prices', 'depths'] as const;
/** Longest run: what is not read by then is reported as `timed_out`. */
const RUN_MS = 3_000;
/** How often failed reads are retried at the same block, and whether the chain is reachable at all. */
const RETRY_MS = 5_000;

const unpaid = () => new SnapshotError('timed_out', 'the read budget is exhausted at this block');
const keysOnly = () => new SnapshotError('timed_out', 'pools that are simulated are read ahead for keys only');
const elsewhere = () => new SnapshotError('timed_out', 'the pool was read at another block');
const unreachable = (cause: unknown) => new SnapshotError('timed_out', 'no node gives the head', { cause });

/**
 * Reads the requested pools of one chain at each head, one head after the other; of heads that come meanwhile only the newest
 * counts. Pools that become requested between two heads are read at the last one. Without requested pools no head is polled.
 */
export class BlockWarmer {
  readonly #deps: BlockWarmerDeps;
  readonly #now: Clock;
  readonly #listeners = new Set<WarmListener>();
  readonly #sleepListeners = new Set<() => void>();
  #seen: SeenHead | undefined;
  #replacedFrom: bigint | null = null;
  /** What was read at the last head; failed reads are not in it. */
  #done: { readonly hash: string; readonly keys: Set<string> } = { hash: '', keys: new Set() };
  #stopWatching: (() => void) | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isDue = false;
  #running: Promise<void> | undefined;
  #isClosed = false;
  #coverage: Coverage = NO_POOLS;

  constructor(deps: BlockWarmerDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    deps.snapshots.onHead((head, replacedFrom) => this.#takeHead(head, replacedFrom));
    deps.requested.onRequested(() => this.#run());
  }

  /** Of the last head whose run is over. */
  get coverage(): Coverage {
    return this.#coverage;
  }

  /** Calls with what each run brought, prices first. The listener must not throw. */
  onResult(listener: WarmListener): void {
    this.#listeners.add(listener);
  }

  /** Calls when nothing is requested any more: heads are not seen from then on. */
  onSleep(listener: () => void): void {
    this.#sleepListeners.add(listener);
  }

  /** Reads no more. Resolves when the run in progress is over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sleep();
    await this.#running;
  }

  #takeHead(head: ReportedHead, replacedFrom: bigint | null): void {
    this.#seen = { head, seenAt: this.#now() };
    const before = this.#replacedFrom;
    this.#replacedFrom = before === null || (replacedFrom !== null && replacedFrom < before) ? replacedFrom : before;
    if (this.#stopWatching) this.#run();
  }

  /** Runs until nothing is due; a call during a run makes another one follow. */
  #run(): void {
    if (this.#isClosed) return;
    this.#isDue = true;
    this.#running ??= this.#runAll().finally(() => {
      this.#running = undefined;
    });
  }

  async #runAll(): Promise<void> {
    // Whatever becomes requested in this turn belongs to one run.
    await null;
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      await this.#runOnce().catch((error) => this.#deps.logger.error({ err: error }, 'failed to read requested pools'));
    }
  }

  async #runOnce(): Promise<void> {
    const { chainId, requested, snapshots, directory } = this.#deps;
    if (requested.list().length === 0) return this.#sleep();
    this.#watch();
    const table = await directory.table();
    // Brings the head by `onHead` when it is new.
    const reached = await snapshots.head().catch(unreachable);
    const seen = this.#seen;
    if (!seen) return;
    if (reached instanceof SnapshotError) return this.#reportUnreachable(seen, requested.list(), reached);
    this.#isDue = false;
    const { hash } = seen.head.block;
    const isNew = this.#done.hash !== hash || this.#replacedFrom !== null;
    if (this.#done.hash !== hash) this.#done = { hash, keys: new Set() };
    const reads = requested.list().flatMap((request): WarmRead[] => {
      const pool = table.find(chainId, request.address);
      return pool ? [{ ...request, pool }] : [];
    });
    if (isNew || reads.some((read) => !this.#isDone(read))) await this.#read(seen, reads);
    const ahead = reads.filter((read) => !this.#isForKeys(read));
    const unread = ahead.filter((read) => !this.#isDone(read));
    this.#coverage = { requested: poolCount(ahead), unread: poolCount(unread) };
  }

  async #read({ head, seenAt }: SeenHead, requested: readonly WarmRead[]): Promise<void> {
    const { schedule, snapshots } = this.#deps;
    const replacedFrom = this.#replacedFrom;
    this.#replacedFrom = null;
    const pending = requested.filter((read) => !this.#isDone(read));
    const isThere = (read: WarmRead) => this.#isDone(read) || snapshots.isRead(read.pool, read.kind);
    const there = pending.filter(isThere);
    const ahead = requested.filter((read) => !this.#isForKeys(read));
    const batches = schedule.plan(ahead, (read) => !isThere(read));
    for (const read of there) schedule.markRead(read);
    const signal = AbortSignal.timeout(RUN_MS);
    const parts = [
      { reads: there, at: head },
      ...batches.map(({ reads, reserve }) => ({ reads, at: { ...head, block: { ...head.block, reserve } } })),
    ];
    const found = KINDS.map(async (kind) => {
      const maps = parts.map(({ reads, at }): Promise<SnapshotMap> => {
        const pools = reads.filter((read) => read.kind === kind).map(({ pool }) => pool);
        return snapshots[kind](pools, { at, signal });
      });
      return new Map((await Promise.all(maps)).flatMap((map) => [...map]));
    });
    const exhausted = new Set<string>();
    for (const [index, kind] of KINDS.entries()) {
      const outcomes = new Map<Address, Snapshot | SnapshotError>();
      const ofKind = await found[index];
      for (const read of pending.filter((each) => each.kind === kind)) {
        const outcome = ofKind?.get(read.address) ?? (this.#isForKeys(read) ? keysOnly() : unpaid());
        if (isExhausted(outcome)) exhausted.add(warmKey(read));
        outcomes.set(read.address, this.#atBlock(head, read, outcome));
      }
      this.#report({ block: head.block, seenAt, replacedFrom: index === 0 ? replacedFrom : null, kind, outcomes });
    }
    for (const batch of batches) schedule.settle(batch, (read) => !exhausted.has(warmKey(read)));
  }

  #isDone(request: RequestedPool): boolean {
    return this.#done.keys.has(warmKey(request));
  }

  /** Whether every level of the pool is simulated and no key requests it. */
  #isForKeys({ pool, kind, byKey }: WarmRead): boolean {
    const rank = this.#deps.rankOf(pool);
    return kind === 'depths' && !byKey && (rank === 'simulation' || rank === 'none');
  }

  #atBlock({ block: { hash } }: ReportedHead, read: WarmRead, outcome: Snapshot | SnapshotError) {
    if (isExhausted(outcome)) return unpaid();
    if (outcome instanceof SnapshotError) return outcome;
    if (outcome.block.hash !== hash) return elsewhere();
    if (this.#done.hash === hash) this.#done.keys.add(warmKey(read));
    return outcome;
  }

  #reportUnreachable({ head, seenAt }: SeenHead, requested: readonly RequestedPool[], error: SnapshotError): void {
    this.#done = { hash: '', keys: new Set() };
    this.#coverage = { requested: poolCount(requested), unread: poolCount(requested) };
    for (const kind of KINDS) {
      const ofKind = requested.filter((request) => request.kind === kind);
      const outcomes = new Map(ofKind.map(({ address }) => [address, error]));
      this.#report({ block: head.block, seenAt, replacedFrom: null, kind, outcomes });
    }
  }

  #report(result: Omit<WarmResult, 'readyAt'>): void {
    const readyAt = this.#now();
    for (const listener of this.#listeners) listener({ ...result, readyAt });
  }

  #watch(): void {
    this.#stopWatching ??= this.#deps.snapshots.watch();
    this.#retry ??= setInterval(() => this.#run(), RETRY_MS).unref();
  }

  #sleep(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    clearInterval(this.#retry);
    this.#retry = undefined;
    this.#done = { hash: '', keys: new Set() };
    this.#replacedFrom = null;
    this.#coverage = NO_POOLS;
    for (const listener of this.#sleepListeners) listener();
  }
}

const poolCount = (of: readonly RequestedPool[]): number => new Set(of.map(({ address }) => address)).size;

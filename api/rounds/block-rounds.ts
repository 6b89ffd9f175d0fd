import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { PoolDirectory, ServedPool } from '../snapshots/pool-directory.ts';
import { type ChainSnapshots, type Snapshot, SnapshotError, type SnapshotMap } from '../snapshots/types.ts';
import type { PaidReads } from './paid-reads.ts';
import { isSimulated, type KnownRank } from './read-cost.ts';
import type { BlockRound, RoundListener } from './types.ts';
import { type QuoteKind, type WantedPool, type WantedPools, wantKey } from './wanted-pools.ts';

export interface BlockRoundsDeps {
  readonly chainId: number;
  readonly wanted: WantedPools;
  readonly snapshots: ChainSnapshots;
  readonly directory: PoolDirectory;
  readonly paidReads: Pick<PaidReads, 'pay'>;
  /** How its curve became known last. */
  readonly rankOf: (pool: ServedPool) => KnownRank;
  readonly logger: Logger;
  readonly now?: Clock;
}

/** A wanted pool that is served. */
type Read = WantedPool & { readonly pool: ServedPool };

/** How many pools are requested, those apart that are simulated and that no key requests, and how many of them are not read. */
export interface Coverage {
  readonly requested: number;
  readonly unread: number;
}

const NO_POOLS: Coverage = { requested: 0, unread: 0 };

interface Head {
  readonly block: BlockRef;
  readonly seenAt: number;
}

/** Longest round: what is not read by then is told as `timed_out`. */
const ROUND_MS = 3_000;
/** How often reads that failed are tried again at the same block, and whether the chain is there at all. */
const RETRY_MS = 5_000;

const unpaid = () => new SnapshotError('timed_out', 'the read budget does not pay for the pool at this block');
const keysOnly = () => new SnapshotError('timed_out', 'pools that are simulated are read ahead for keys only');
const elsewhere = () => new SnapshotError('timed_out', 'the pool was read at another block');
const unreachable = (cause: unknown) => new SnapshotError('timed_out', 'no node tells the head', { cause });

/**
 * Reads the wanted pools of one chain at each head, all at once and one head after the other; a head that came meanwhile is
 * left out when a newer one is there. Pools that become wanted between two heads are read at the last one. While nothing is
 * wanted, no head is looked for.
 */
export class BlockRounds {
  readonly #deps: BlockRoundsDeps;
  readonly #now: Clock;
  readonly #listeners = new Set<RoundListener>();
  readonly #sleepListeners = new Set<() => void>();
  #head: Head | undefined;
  #replacedFrom: bigint | null = null;
  /** What was read at the last head, or was not to be; failed reads are not in it. */
  #done: { readonly hash: string; readonly keys: Set<string> } = { hash: '', keys: new Set() };
  #stopWatching: (() => void) | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isDue = false;
  #running: Promise<void> | undefined;
  #isClosed = false;
  #coverage: Coverage = NO_POOLS;

  constructor(deps: BlockRoundsDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    deps.snapshots.onHead((block, replacedFrom) => this.#takeHead(block, replacedFrom));
    deps.wanted.onWanted(() => this.#run());
  }

  /** Of the last head whose round is over. */
  get coverage(): Coverage {
    return this.#coverage;
  }

  /** Calls with what each round brought, prices first. The listener must not throw. */
  onRound(listener: RoundListener): void {
    this.#listeners.add(listener);
  }

  /** Calls when nothing is wanted any more: heads are not seen from then on. */
  onSleep(listener: () => void): void {
    this.#sleepListeners.add(listener);
  }

  /** Reads no more. Resolves when the round under way is over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sleep();
    await this.#running;
  }

  #takeHead(block: BlockRef, replacedFrom: bigint | null): void {
    this.#head = { block, seenAt: this.#now() };
    const before = this.#replacedFrom;
    this.#replacedFrom = before === null || (replacedFrom !== null && replacedFrom < before) ? replacedFrom : before;
    if (this.#stopWatching) this.#run();
  }

  /** Runs rounds until nothing is due; a call during a round makes another one follow. */
  #run(): void {
    if (this.#isClosed) return;
    this.#isDue = true;
    this.#running ??= this.#runAll().finally(() => {
      this.#running = undefined;
    });
  }

  async #runAll(): Promise<void> {
    // Whatever becomes wanted in this turn belongs to one round.
    await null;
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      await this.#round().catch((error) => this.#deps.logger.error({ err: error }, 'wanted pools were not read'));
    }
  }

  async #round(): Promise<void> {
    const { wanted, snapshots, directory } = this.#deps;
    if (wanted.list().length === 0) return this.#sleep();
    this.#watch();
    const table = await directory.table();
    // Tells the head, and brings it by `onHead` when it is new.
    const isThere = await snapshots.head().catch(unreachable);
    const head = this.#head;
    if (!head) return;
    if (isThere instanceof SnapshotError) return this.#tellUnreachable(head, wanted.list(), isThere);
    this.#isDue = false;
    const isNew = this.#done.hash !== head.block.hash || this.#replacedFrom !== null;
    if (this.#done.hash !== head.block.hash) this.#done = { hash: head.block.hash, keys: new Set() };
    const reads = wanted.list().flatMap((want): Read[] => {
      const pool = table.find(this.#deps.chainId, want.address);
      return pool ? [{ ...want, pool }] : [];
    });
    if (isNew || reads.some((read) => !this.#isDone(read))) await this.#read(head, reads);
    this.#count(reads);
  }

  async #read(head: Head, wanted: readonly Read[]): Promise<void> {
    const { paidReads, snapshots } = this.#deps;
    const replacedFrom = this.#replacedFrom;
    this.#replacedFrom = null;
    const reads = wanted.filter((read) => !this.#isDone(read));
    const isThere = (read: Read) => this.#isDone(read) || snapshots.isRead(read.pool, read.kind);
    const isForKeys = (read: Read) => this.#isForKeys(read);
    const ahead = wanted.filter((read) => !isForKeys(read)).map((read) => ({ ...read, isRead: isThere(read) }));
    const paid = paidReads.pay(ahead);
    const mayRead = (read: Read) => isThere(read) || paid.has(wantKey(read));
    const signal = AbortSignal.timeout(ROUND_MS);
    const parts = (['prices', 'depths'] as const).map((kind) => {
      const ofKind = reads.filter((read) => read.kind === kind);
      const pools = ofKind.filter(mayRead).map(({ pool }) => pool);
      return { kind, ofKind, outcomes: snapshots[kind](pools, { at: head.block, signal }) as Promise<SnapshotMap> };
    });
    for (const [index, { kind, ofKind, outcomes }] of parts.entries()) {
      const found = await outcomes;
      const told = new Map<Address, Snapshot | SnapshotError>();
      for (const read of ofKind) {
        const outcome = found.get(read.address) ?? (isForKeys(read) ? keysOnly() : unpaid());
        told.set(read.address, this.#atBlock(head.block, kind, read.address, outcome));
      }
      this.#tell({ ...head, replacedFrom: index === 0 ? replacedFrom : null, kind, outcomes: told });
    }
  }

  #isDone(want: WantedPool): boolean {
    return this.#done.keys.has(wantKey(want));
  }

  #isForKeys({ pool, kind, byKey }: Read): boolean {
    return kind === 'depths' && !byKey && isSimulated(this.#deps.rankOf(pool));
  }

  /** Takes stock of a head once its round is over. */
  #count(reads: readonly Read[]): void {
    const ahead = reads.filter((read) => !this.#isForKeys(read));
    const unread = ahead.filter((read) => !this.#isDone(read));
    const pools = (of: readonly Read[]) => new Set(of.map(({ address }) => address)).size;
    this.#coverage = { requested: pools(ahead), unread: pools(unread) };
  }

  #atBlock(block: BlockRef, kind: QuoteKind, address: Address, outcome: Snapshot | SnapshotError) {
    if (outcome instanceof SnapshotError) return outcome;
    if (outcome.block.hash !== block.hash) return elsewhere();
    if (this.#done.hash === block.hash) this.#done.keys.add(wantKey({ kind, address }));
    return outcome;
  }

  #tellUnreachable(head: Head, wanted: readonly WantedPool[], error: SnapshotError): void {
    this.#done = { hash: '', keys: new Set() };
    const requested = new Set(wanted.map(({ address }) => address)).size;
    this.#coverage = { requested, unread: requested };
    for (const kind of ['prices', 'depths'] as const) {
      const ofKind = wanted.filter((want) => want.kind === kind);
      const outcomes = new Map(ofKind.map(({ address }) => [address, error]));
      this.#tell({ ...head, replacedFrom: null, kind, outcomes });
    }
  }

  #tell(round: Omit<BlockRound, 'readyAt'>): void {
    const readyAt = this.#now();
    for (const listener of this.#listeners) listener({ ...round, readyAt });
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

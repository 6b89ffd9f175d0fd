import type { BlockRef } from '../../chain/read-context.ts';
import { quotesOf } from '../../quoting/open-chain.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { DepthSnapshot, Snapshot } from '../../quoting/types.ts';
import type { Clocks } from '../../runtime/clock.ts';
import type { ChainQuotes } from '../latest/chain-quotes.ts';
import type { ChoosePools } from './choose-pools.ts';
import { AwaitedPools, frameContents, maxUnreadMs, type PoolsAt, poolsAt } from './frame-contents.ts';
import type { FrameSource } from './frame-feed.ts';
import type { Made } from './frame-schedule.ts';
import type { LevelsQuery } from './levels-query.ts';
import type { LevelQuotes } from './one-state.ts';
import { LEVELS_INTERVAL_MS, type LevelsChain, writeLevels } from './write-levels.ts';

export interface LevelsSourceDeps extends Clocks {
  readonly chain: LevelsChain;
  readonly latest: ChainQuotes;
  readonly choose: ChoosePools;
  readonly query: LevelsQuery;
  /** Whether its clients have keys. */
  readonly byKey: boolean;
  /** The pools of the query. */
  readonly pools: readonly ServedPool[];
}

/** One each second at least, also if a timer is late. */
const MAX_MS = 900;

/** What all see takes this part of the calls of a minute, at most this many pools: no more fit into a frame. */
const PUBLIC_POOLS_PER_CALL = 0.2;
const MAX_PUBLIC_POOLS = 300;

const shownOf = (found: readonly ServedPool[], { chain, query }: Pick<LevelsSourceDeps, 'chain' | 'query'>) =>
  query.isPublic ? found.slice(0, publicPools(chain)) : found;

/** How many pools of a chain all see: as many as its budget reads at each block. */
export const publicPools = ({ warmBudget }: Pick<LevelsChain, 'warmBudget'>): number =>
  Math.min(MAX_PUBLIC_POOLS, Math.ceil(warmBudget.callsPerMinute * PUBLIC_POOLS_PER_CALL));

const blocks = new WeakMap<Buffer, BlockRef>();
/** The block that a frame of a {@link LevelsSource} was read at. */
export const blockOfFrame = (frame: Buffer): BlockRef => blocks.get(frame) as BlockRef;

/** Makes the frames of a query from the latest depths of its pools, which it keeps requested and chooses again each time. */
export class LevelsSource implements FrameSource {
  readonly minMs = LEVELS_INTERVAL_MS;
  readonly maxMs = MAX_MS;
  readonly maxLateMs: number;
  readonly #quotes: LevelQuotes;
  readonly #awaited: AwaitedPools;
  /** Those that the query finds, and of these the ones that frames show. */
  #found: readonly ServedPool[];
  #pools: readonly ServedPool[];
  #pins: readonly (() => void)[] = [];
  /** The versions that the last frame shows. */
  #shown = '';
  #madeAt: number;

  constructor(private readonly deps: LevelsSourceDeps) {
    const { chain, query, pools, now } = deps;
    this.maxLateMs = 2 * maxUnreadMs(chain);
    this.#quotes = quotesOf<LevelQuotes>(chain, query.basis);
    this.#awaited = new AwaitedPools(maxUnreadMs(chain), now);
    this.#found = pools;
    this.#pools = shownOf(pools, deps);
    this.#madeAt = now();
  }

  start(changed: () => void): () => void {
    const stopListening = this.deps.latest.onRead(({ kind }) => {
      if (kind === 'depths' && this.#versions() !== this.#shown) changed();
    });
    return () => {
      stopListening();
      for (const unpin of this.#pins) unpin();
    };
  }

  async make(): Promise<Made> {
    const { chain, byKey, now, query } = this.deps;
    const { depths } = this.deps.latest;
    void this.#choose();
    this.#pin();
    this.#shown = this.#versions();
    const { heads } = this.#quotes;
    const announced = heads.announced?.block;
    const known = announced && !heads.isTooOld(announced) ? announced : null;
    const pools = this.#pools.filter((pool) => byKey || !chain.estimates.isReadForKeys(pool));
    if (pools.length === 0) return known && this.#write(known, [], this.#found.length);
    if (!depths.block) return known ? 'late' : null;
    const lateMs = now() - this.#madeAt;
    const at = this.#poolsAt(depths.block, pools);
    // What all see does not wait for calls that others take.
    const isShort = query.isPublic && at.read.length > 0 && lateMs >= maxUnreadMs(chain);
    const contents = frameContents(isShort ? { ...at, unread: [] } : at, lateMs >= MAX_MS);
    if (contents === 'late' || contents === null) return contents;
    this.#madeAt = now();
    const block = contents.find((snapshot) => snapshot.block.pending)?.block ?? depths.block;
    // Levels of an unchanged quote are those that were written before.
    const first = contents.map((snapshot) => {
      const written = depths.get(snapshot.pool.address)?.first;
      return hasDepth(written) ? written : snapshot;
    });
    return this.#write(block, first, this.#found.length - pools.length + (isShort ? at.unread.length : 0));
  }

  /** @param unread how many pools that the query found are not among the snapshots for want of calls */
  async #write(block: BlockRef, snapshots: readonly DepthSnapshot[], unread: number): Promise<Buffer> {
    const { chain, wallClock, query } = this.deps;
    const { format, venue, levels, isPublic } = query;
    const shape = { format, venue, levels, wallClock, omitted: isPublic && unread };
    const frame = Buffer.from(await writeLevels(chain, shape, block, snapshots));
    blocks.set(frame, block);
    return frame;
  }

  /** While the database does not answer, the pools stay. */
  async #choose(): Promise<void> {
    const { choose, chain, query } = this.deps;
    this.#found = await choose(chain, query).catch(() => this.#found);
    this.#pools = shownOf(this.#found, this.deps);
  }

  #pin(): void {
    const before = this.#pins;
    this.#pins = this.#pools.map(({ address }) => this.#quotes.requested.pin(address, 'depths', this.deps.byKey));
    for (const unpin of before) unpin();
  }

  #poolsAt(block: BlockRef, pools: readonly ServedPool[]): PoolsAt<DepthSnapshot> {
    const { depths } = this.deps.latest;
    return poolsAt(block, pools, {
      outcomeOf: (pool) => {
        const outcome = depths.get(pool)?.outcome;
        return outcome instanceof SnapshotError || hasDepth(outcome) ? outcome : undefined;
      },
      isBeingRead: (pool) => this.#quotes.snapshots.isRead(pool, 'depths'),
      awaited: this.#awaited,
    });
  }

  /** Differs when the block or a pool changed. */
  #versions(): string {
    const { depths } = this.deps.latest;
    return [depths.block?.hash, ...this.#pools.map(({ address }) => depths.get(address)?.version)].join();
  }
}

const hasDepth = (outcome: Snapshot | SnapshotError | undefined): outcome is DepthSnapshot =>
  outcome !== undefined && !(outcome instanceof SnapshotError) && outcome.depth !== null;

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

/** Makes the frames of a query from the latest depths of its pools, which it keeps requested and chooses again each time. */
export class LevelsSource implements FrameSource {
  readonly minMs = LEVELS_INTERVAL_MS;
  readonly maxMs = MAX_MS;
  readonly maxLateMs: number;
  readonly #quotes: LevelQuotes;
  readonly #awaited: AwaitedPools;
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
    this.#pools = pools;
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
    const { chain, byKey, now, wallClock } = this.deps;
    const query = { ...this.deps.query, wallClock };
    const { depths } = this.deps.latest;
    void this.#choose();
    this.#pin();
    this.#shown = this.#versions();
    const { heads } = this.#quotes;
    const announced = heads.announced?.block;
    const known = announced && !heads.isTooOld(announced) ? announced : null;
    const pools = this.#pools.filter((pool) => byKey || !chain.estimates.isReadForKeys(pool));
    if (pools.length === 0) return known && Buffer.from(await writeLevels(chain, query, known, []));
    if (!depths.block) return known ? 'late' : null;
    const contents = frameContents(this.#poolsAt(depths.block, pools), now() - this.#madeAt >= MAX_MS);
    if (contents === 'late' || contents === null) return contents;
    this.#madeAt = now();
    const block = contents.find((snapshot) => snapshot.block.pending)?.block ?? depths.block;
    // Levels of an unchanged quote are those that were written before.
    const first = contents.map((snapshot) => {
      const written = depths.get(snapshot.pool.address)?.first;
      return hasDepth(written) ? written : snapshot;
    });
    return Buffer.from(await writeLevels(chain, query, block, first));
  }

  /** While the database does not answer, the pools stay. */
  async #choose(): Promise<void> {
    const { choose, chain, query } = this.deps;
    this.#pools = await choose(chain, query).catch(() => this.#pools);
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

import { isSameState } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { quotesOf } from '../../quoting/open-chain.ts';
import type { Basis } from '../../quoting/quote-basis.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { perObject } from '../../runtime/per-object.ts';
import { unavailable } from '../errors.ts';
import { olderBlock } from '../http/block-headers.ts';
import { ReadyBody } from '../http/ready-body.ts';
import type { ChainQuotes } from '../latest/chain-quotes.ts';
import { assertWildcard } from '../sockets/pool-lists.ts';
import { AskedFrames } from './asked-frames.ts';
import type { ChoosePools } from './choose-pools.ts';
import { isNodeFailure, type PoolsAt } from './frame-contents.ts';
import type { FrameFeed, FrameFeeds } from './frame-feed.ts';
import type { MadeFrame } from './frame-schedule.ts';
import type { LevelsQuery } from './levels-query.ts';
import { LevelsSource } from './levels-source.ts';
import { type FrameLook, maxUnreadMs, NONE_MISSING, nextAwaited } from './next-awaited.ts';
import { type LevelQuotes, type ReadAt, readDepths } from './one-state.ts';
import type { ChainShares } from './pool-shares.ts';
import { type LevelsChain, type ShownShape, writeLevels } from './write-levels.ts';

/** A frame for any number of clients. */
export interface PublicFrame {
  readonly body: ReadyBody;
  readonly block: BlockRef;
}

const publicFrame = perObject(
  ({ frame, block }: MadeFrame): PublicFrame => ({ body: new ReadyBody(frame.toString()), block }),
);

/** A frame, and the block that its pools were read at. */
export interface LevelsFrame {
  readonly json: string;
  readonly block: BlockRef;
}

export interface PriceLevelsDeps extends Pick<ShownShape, 'now' | 'stamp'> {
  readonly chain: LevelsChain;
  readonly latest: Readonly<Record<Basis, ChainQuotes>>;
  readonly choose: ChoosePools;
  readonly shares: Pick<ChainShares, 'of'>;
  readonly feeds: FrameFeeds;
}

/** The price levels of one chain, from the snapshots that quotes come from. */
export class PriceLevels {
  readonly #deps: PriceLevelsDeps;
  /** By query; there are few. */
  readonly #asked = new Map<string, AskedFrames>();
  /** Pools that nodes do not give to single frames. */
  #missing = NONE_MISSING;

  constructor(deps: PriceLevelsDeps) {
    this.#deps = deps;
  }

  /**
   * Prepares a frame.
   *
   * @param byKey whether the client has a key
   * @returns reads it at a state; throws ApiError 503 when a pool cannot be read
   * @throws ApiError 400, 503
   */
  async prepare(query: LevelsQuery, byKey: boolean): Promise<ReadAt<LevelsFrame>> {
    await this.#assertReadable(query);
    const { chain, choose, shares, now, stamp } = this.#deps;
    const { format, venue, levels } = query;
    const shape = { format, venue, levels, shares, now, stamp };
    const pools = await choose(chain, query);
    quotesOf<LevelQuotes>(chain, query.basis).requested.markRequested(pools, 'depths', byKey);
    return async (state) => {
      const { head, quotes, signal } = state;
      const outcomes = await readDepths(state, pools);
      const { read, unread } = this.#take({
        block: head.block,
        pools: pools.map((pool) => ({
          pool: pool.address,
          outcome: outcomes.get(pool.address),
          isBeingRead: quotes.snapshots.isRead(pool, 'depths'),
        })),
      });
      const failure = unread.find(isNodeFailure);
      if (failure || (unread.length > 0 && signal.aborted)) throw unavailable(failure);
      const isOther = ({ block }: DepthSnapshot) => block.pending && !isSameState(block, head.block);
      if (unread.length > 0 || read.some(isOther)) return null;
      if (read.length === 0 && pools.length > 0) throw unavailable(outcomes.values().next().value);
      const block = read.map((snapshot) => snapshot.block).reduce(olderBlock, withoutPending(head.block));
      const json = await writeLevels(chain, shape, head.block, read);
      return json === null ? null : { json, block };
    };
  }

  #take(look: FrameLook<DepthSnapshot>): PoolsAt<DepthSnapshot> {
    const { chain, now } = this.#deps;
    const [missing, pools] = nextAwaited(this.#missing, look, now(), maxUnreadMs(chain));
    this.#missing = missing;
    return pools;
  }

  /**
   * Opens the frames of a query, each made and encoded once for all clients of the same query and access.
   *
   * @throws ApiError 400, 503
   */
  async open(query: LevelsQuery, byKey: boolean): Promise<FrameFeed> {
    await this.#assertReadable(query);
    return this.#feedOf(query, byKey);
  }

  /**
   * Gives a frame of a {@link publicQuery}, which is made once for all who ask meanwhile.
   *
   * @throws ApiError 503
   */
  async readPublic(query: LevelsQuery): Promise<PublicFrame> {
    // A client may have seen a later block at another process.
    await this.#assertReadable(query);
    const key = JSON.stringify(query);
    const asked = this.#asked.get(key) ?? new AskedFrames(this.#deps.now);
    this.#asked.set(key, asked);
    return publicFrame(await asked.read(() => this.#feedOf(query, false)));
  }

  /** How many clients subscribe to its frames here: single requests do not count. */
  get readers(): number {
    const asked = this.#asked.values().filter(({ isReading }) => isReading);
    return this.#deps.feeds.readersOf(['levels', this.#deps.chain.chainId]) - [...asked].length;
  }

  async #feedOf(query: LevelsQuery, byKey: boolean): Promise<FrameFeed> {
    const { chain, choose, feeds, shares, now, stamp } = this.#deps;
    const latest = this.#deps.latest[query.basis];
    const pools = await choose(chain, query);
    const key = JSON.stringify(['levels', chain.chainId, query, byKey]);
    return feeds.of(key, () => new LevelsSource({ chain, latest, choose, shares, query, byKey, pools, now, stamp }));
  }

  /** @throws ApiError 400 for a query of too many pools, 503 */
  async #assertReadable({ basis, pools, listed }: LevelsQuery): Promise<void> {
    const { chain, latest } = this.#deps;
    const { table } = await latest[basis].ready();
    // Of a filter what it leaves counts.
    if (!pools && !listed) assertWildcard(table, chain.chainId);
  }
}

const withoutPending = ({ pending: _, ...block }: BlockRef): BlockRef => block;

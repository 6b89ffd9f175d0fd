import type { Address } from 'viem';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { targetOf } from '../../quoting/live/target-block.ts';
import { frameHead } from '../../quoting/live/write-frame.ts';
import { type Chain, quotesOf } from '../../quoting/open-chain.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { Basis } from '../../quoting/quote-basis.ts';
import { isReadForKeys } from '../../quoting/requested/block-warmer.ts';
import { isExhausted, type SnapshotError } from '../../quoting/snapshot-error.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { unavailable } from '../errors.ts';
import { olderBlock } from '../http/block-headers.ts';
import type { ChainQuotes } from '../latest/chain-quotes.ts';
import { assertWildcard } from '../sockets/pool-lists.ts';
import type { ChoosePools } from './choose-pools.ts';
import { encodeFrame } from './encode-frame.ts';
import { AwaitedPools, frameContents, isNodeFailure, maxUnreadMs, poolsAt } from './frame-contents.ts';
import type { FrameFeed, FrameFeeds, FrameSource } from './frame-feed.ts';
import type { Made } from './frame-schedule.ts';
import type { LevelsQuery } from './levels-query.ts';
import type { LevelQuotes, ReadAt } from './one-state.ts';

/** What price levels need of a chain. */
export type LevelsChain = ChainConfig &
  LevelQuotes &
  Pick<Chain, 'estimates'> & { readonly liveQuotes?: LevelQuotes | undefined };

/** A frame, and the block that its pools were read at. */
export interface LevelsFrame {
  readonly json: string;
  readonly block: BlockRef;
}

/** At most four frames a second. */
const MIN_MS = 250;
/** One each second at least, also if a timer is late. */
const MAX_MS = 900;

/** The price levels of one chain, from the snapshots that quotes come from. */
export class PriceLevels {
  /** The pools that single frames wait for. */
  readonly #awaited: AwaitedPools;

  constructor(
    private readonly chain: LevelsChain,
    private readonly latest: Readonly<Record<Basis, ChainQuotes>>,
    private readonly choose: ChoosePools,
    private readonly feeds: FrameFeeds,
    private readonly now: Clock = () => performance.now(),
  ) {
    this.#awaited = new AwaitedPools(maxUnreadMs(chain), now);
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
    const pools = await this.choose(this.chain, query);
    quotesOf<LevelQuotes>(this.chain, query.basis).requested.markRequested(pools, 'depths', byKey);
    return async ({ head, quotes: { snapshots }, signal }) => {
      const outcomes = new Map(await snapshots.depths(pools, { at: head, signal }));
      // A scheduled read that has no calls is made for this frame.
      const unbudgeted = pools.filter(({ address }) => isExhausted(outcomes.get(address)));
      for (const each of await snapshots.depths(unbudgeted, { at: head, signal })) outcomes.set(...each);
      const { read, unread } = poolsAt(head.block, pools, {
        outcomeOf: (pool) => outcomes.get(pool),
        isBeingRead: (pool) => snapshots.isRead(pool, 'depths'),
        awaited: this.#awaited,
      });
      const failure = unread.find(isNodeFailure);
      if (failure || (unread.length > 0 && signal.aborted)) throw unavailable(failure);
      const isOther = ({ block }: DepthSnapshot) => block.pending && stateOf(block) !== stateOf(head.block);
      if (unread.length > 0 || read.some(isOther)) return null;
      if (read.length === 0 && pools.length > 0) throw unavailable(outcomes.values().next().value);
      const block = read.map((snapshot) => snapshot.block).reduce(olderBlock, withoutPending(head.block));
      return { json: await this.#write(query, head.block, read), block };
    };
  }

  /**
   * Opens the frames of a query, each made and encoded once for all clients of the same query and access.
   *
   * @throws ApiError 400, 503
   */
  async open(query: LevelsQuery, byKey: boolean): Promise<FrameFeed> {
    await this.#assertReadable(query);
    const chosen = await this.choose(this.chain, query);
    const key = JSON.stringify(['levels', this.chain.chainId, query, byKey]);
    return this.feeds.of(key, () => this.#source(query, byKey, chosen));
  }

  /** @throws ApiError 400 for a query of too many pools, 503 */
  async #assertReadable({ basis, pools }: LevelsQuery): Promise<void> {
    const { table } = await this.latest[basis].ready();
    if (!pools) assertWildcard(table, this.chain.chainId);
  }

  #source(query: LevelsQuery, byKey: boolean, chosenFirst: readonly ServedPool[]): FrameSource {
    const latest = this.latest[query.basis];
    const { depths } = latest;
    const { requested, heads, snapshots } = quotesOf<LevelQuotes>(this.chain, query.basis);
    const awaited = new AwaitedPools(maxUnreadMs(this.chain), this.now);
    let chosen = chosenFirst;
    /** While the database does not answer, the pools stay. */
    const choose = async () => {
      chosen = await this.choose(this.chain, query).catch(() => chosen);
    };
    let pins: readonly (() => void)[] = [];
    let shown = '';
    let madeAt = this.now();
    /** Differs when the block or a requested pool changed. */
    const state = () => [depths.block?.hash, ...chosen.map(({ address }) => depths.get(address)?.version)].join();
    const make = async (): Promise<Made> => {
      void choose();
      const before = pins;
      pins = chosen.map(({ address }) => requested.pin(address, 'depths', byKey));
      for (const unpin of before) unpin();
      shown = state();
      const announced = heads.announced?.block;
      const known = announced && !heads.isTooOld(announced) ? announced : null;
      const pools = chosen.filter((pool) => byKey || !isReadForKeys(this.chain.estimates.curveMethod(pool)));
      if (pools.length === 0) return known ? Buffer.from(await this.#write(query, known, [])) : null;
      if (!depths.block) return known ? 'late' : null;
      const outcomeOf = (pool: Address) => depths.get(pool)?.outcome as DepthSnapshot | SnapshotError | undefined;
      const isBeingRead = (pool: ServedPool) => snapshots.isRead(pool, 'depths');
      const isOverdue = this.now() - madeAt >= MAX_MS;
      const contents = frameContents(poolsAt(depths.block, pools, { outcomeOf, isBeingRead, awaited }), isOverdue);
      if (contents === 'late' || contents === null) return contents;
      madeAt = this.now();
      const block = contents.find((snapshot) => snapshot.block.pending)?.block ?? depths.block;
      // Levels of an unchanged quote are those that were written before.
      const first = contents.map((snapshot) => depths.get(snapshot.pool.address)?.first as DepthSnapshot);
      return Buffer.from(await this.#write(query, block, first));
    };
    const start = (changed: () => void) => {
      const stopListening = latest.onRead(({ kind }) => {
        if (kind === 'depths' && state() !== shown) changed();
      });
      return () => {
        stopListening();
        for (const unpin of pins) unpin();
      };
    };
    return { make, start, minMs: MIN_MS, maxMs: MAX_MS, maxLateMs: 2 * maxUnreadMs(this.chain) };
  }

  #write({ format, venue }: LevelsQuery, block: BlockRef, snapshots: readonly DepthSnapshot[]): Promise<string> {
    const head = frameHead(format, this.chain.chainId, targetOf(block, this.chain), Date.now());
    return encodeFrame(format, head, venue, snapshots);
  }
}

const withoutPending = ({ pending: _, ...block }: BlockRef): BlockRef => block;

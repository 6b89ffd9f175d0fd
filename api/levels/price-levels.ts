import type { ChainConfig } from '../../config/chains-schema.ts';
import { type Chain, quotesOf } from '../../quoting/open-chain.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { Basis } from '../../quoting/quote-basis.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { throwUnavailable, unavailable } from '../errors.ts';
import { olderBlock } from '../http/block-headers.ts';
import type { ChainStream } from '../stream/chain-stream.ts';
import type { ChoosePools } from './choose-pools.ts';
import { encodeFrame, frameHead, targetOf } from './encode-frame.ts';
import type { FrameFeed, FrameFeeds, FrameSource } from './frame-feed.ts';
import type { LevelsQuery } from './levels-query.ts';

/** What price levels need of a chain. */
type LevelQuotes = Pick<Chain, 'requested' | 'heads'> & { readonly snapshots: Pick<Chain['snapshots'], 'depths'> };
export type LevelsChain = ChainConfig & LevelQuotes & { readonly liveQuotes?: LevelQuotes | undefined };

/** At most four frames a second. */
const MIN_MS = 250;
/** One each second at least, also if a timer is late. */
const MAX_MS = 900;
const DEADLINE_MS = 20_000;

/** The price levels of one chain, from the snapshots that quotes come from. */
export class PriceLevels {
  constructor(
    private readonly chain: LevelsChain,
    private readonly streams: Readonly<Record<Basis, ChainStream>>,
    private readonly choose: ChoosePools,
    private readonly feeds: FrameFeeds,
  ) {}

  /**
   * Reads a frame now.
   *
   * @param byKey whether the client has a key
   * @throws ApiError 400, 503
   */
  async read(query: LevelsQuery, byKey: boolean): Promise<string> {
    await this.#assertReadable(query);
    const { snapshots, requested, heads } = quotesOf<LevelQuotes>(this.chain, query.basis);
    const pools = await this.choose(this.chain, query);
    requested.markRequested(pools, 'depths', byKey);
    const read = await snapshots.depths(pools, { signal: AbortSignal.timeout(DEADLINE_MS) });
    const known = [...read.values()].flatMap((entry) => (entry instanceof SnapshotError ? [] : [entry]));
    if (known.length === 0 && pools.length > 0) throw unavailable(read.values().next().value);
    const blocks = known.map((snapshot) => snapshot.block);
    const block = blocks.length > 0 ? blocks.reduce(olderBlock) : (await heads.head().catch(throwUnavailable)).block;
    const head = frameHead(query.format, this.chain, targetOf(block, this.chain));
    return encodeFrame(query.format, head, query.venue, known);
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
    await this.streams[basis].ready();
    if (!pools) this.streams[basis].allPools();
  }

  #source(query: LevelsQuery, byKey: boolean, chosenFirst: readonly ServedPool[]): FrameSource {
    const stream = this.streams[query.basis];
    const { depths } = stream;
    const { requested, heads } = quotesOf<LevelQuotes>(this.chain, query.basis);
    let chosen = chosenFirst;
    /** While the database does not answer, the pools stay. */
    const choose = async () => {
      chosen = await this.choose(this.chain, query).catch(() => chosen);
    };
    let pins: readonly (() => void)[] = [];
    let shown = '';
    /** Differs when the block or a requested pool changed. */
    const state = () => [depths.block?.hash, ...chosen.map(({ address }) => depths.get(address)?.version)].join();
    const make = async () => {
      void choose();
      const before = pins;
      pins = chosen.map(({ address }) => requested.pin(address, 'depths', byKey));
      for (const unpin of before) unpin();
      shown = state();
      const block = chosen.length > 0 ? depths.block : heads.known?.block;
      const snapshots = chosen.flatMap(({ address }) => {
        // Levels of an unchanged quote are those that were written before.
        const first = depths.get(address)?.first;
        return first && !(first instanceof SnapshotError) ? [first as DepthSnapshot] : [];
      });
      if (!block || (snapshots.length === 0 && chosen.length > 0)) return null;
      const head = frameHead(query.format, this.chain, targetOf(block, this.chain));
      return Buffer.from(await encodeFrame(query.format, head, query.venue, snapshots));
    };
    const start = (changed: () => void) => {
      const stopListening = stream.onDepths(() => {
        if (state() !== shown) changed();
      });
      return () => {
        stopListening();
        for (const unpin of pins) unpin();
      };
    };
    return { make, start, minMs: MIN_MS, maxMs: MAX_MS };
  }
}

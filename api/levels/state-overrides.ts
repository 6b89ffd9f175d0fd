import type { Address, Hex } from 'viem';
import { type Words, wordOverrides } from '../../chain/pending-state.ts';
import { liveMaxAgeMs } from '../../config/live-schema.ts';
import type { Heads } from '../../quoting/heads/heads.ts';
import { throwUnavailable } from '../errors.ts';
import { frameHead, targetOf } from './encode-frame.ts';
import type { LevelsFormat } from './forms.ts';
import type { FrameFeed, FrameFeeds } from './frame-feed.ts';
import type { LevelsChain } from './price-levels.ts';

/** Ten frames a second, as relayers send them. */
const FRAME_MS = 100;

/** The words of the block that is being built, as far as their sources may be passed on. */
export class StateOverrides {
  readonly #heads: Heads;

  constructor(
    private readonly chain: LevelsChain,
    private readonly feeds: FrameFeeds,
  ) {
    this.#heads = (chain.liveQuotes ?? chain).heads;
  }

  /**
   * Writes them as one JSON text.
   *
   * @param routers the venues to show; none means all
   * @throws ApiError 503 without a head
   */
  async read(format: LevelsFormat, routers: readonly Address[] = []): Promise<string> {
    const { target, venues } = await this.#state();
    const shown = [...venues].filter(([venue]) => routers.length === 0 || routers.includes(venue));
    const head = frameHead(format, this.chain, target);
    return format === 'builder' ? `{${head}${builderFields(shown)}}` : `{${head},${relayerFields(shown)}}`;
  }

  /** Says whether the chain is read, and how much is passed on. @throws ApiError 503 without a head */
  async status(): Promise<object> {
    const { live, blockTimeMs } = this.chain;
    const { target, venues } = await this.#state();
    return {
      ready: true,
      targetBlock: Number(target.blockNumber),
      liveQuotes: venues.length,
      builders: live?.sources.filter(({ republish }) => republish).length ?? 0,
      maxQuoteAgeMs: live ? liveMaxAgeMs(live, blockTimeMs) : 0,
    };
  }

  /** Frames of some venues in the form of BAP-710. Without a head there is none. */
  feed(routers: readonly Address[]): FrameFeed {
    return this.feeds.of(`overrides ${routers.join()}`, () => ({
      make: () => this.read('bap710', routers).then(Buffer.from, () => null),
      start: () => this.#heads.watch(),
      minMs: FRAME_MS,
      maxMs: FRAME_MS,
    }));
  }

  async #state() {
    const { block } = await this.#heads.head().catch(throwUnavailable);
    return { target: targetOf(block, this.chain), venues: [...(block.pending?.republished ?? [])] };
  }
}

type Venue = readonly [Address, Words];

const builderFields = (venues: readonly Venue[]): string =>
  venues.map(([venue, words]) => `,"${venue}":${JSON.stringify({ stateOverride: wordOverrides(words) })}`).join('');

function relayerFields(venues: readonly Venue[]): string {
  const merged: Record<Address, Record<Hex, Hex>> = {};
  // The newest venue comes first, and its words win.
  for (const [, words] of venues.toReversed())
    for (const [account, slots] of words) merged[account] = { ...merged[account], ...Object.fromEntries(slots) };
  const listed = venues.map(([router, words]) => ({ router, overrides: plain(words) }));
  return `"overrides":${JSON.stringify(merged)},"venues":${JSON.stringify(listed)}`;
}

const plain = (words: Words) =>
  Object.fromEntries([...words].map(([account, slots]) => [account, Object.fromEntries(slots)]));

import type { Address, Hex } from 'viem';
import { stateOf, type Words, wordOverrides } from '../../chain/pending-state.ts';
import { liveMaxAgeMs } from '../../config/live-schema.ts';
import type { Heads } from '../../quoting/heads/heads.ts';
import { throwUnavailable } from '../errors.ts';
import { frameHead, targetOf } from './encode-frame.ts';
import type { LevelsFormat } from './forms.ts';
import type { FrameFeed, FrameFeeds } from './frame-feed.ts';
import type { LevelsChain } from './price-levels.ts';

/** At most ten frames a second, as relayers send them. */
const MIN_MS = 100;

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

  /** Frames of some venues as they change, in the form of BAP-710. */
  feed(routers: readonly Address[]): FrameFeed {
    return this.feeds.of(`overrides ${routers.join()}`, () => {
      const state = () => this.#heads.current && stateOf(this.#heads.current.block);
      let shown: string | undefined;
      const make = async () => {
        shown = state();
        // Without a head there is no frame.
        const text = await this.read('bap710', routers).catch(() => null);
        return text === null ? null : Buffer.from(text);
      };
      const start = (changed: () => void) => {
        const stopWatching = this.#heads.watch();
        const timer = setInterval(() => {
          if (state() !== shown) changed();
        }, MIN_MS).unref();
        return () => {
          clearInterval(timer);
          stopWatching();
        };
      };
      return { make, start, minMs: MIN_MS };
    });
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
  const listed = venues.map(([router, words]) => {
    const accounts = [...words].map(([account, slots]) => [account, Object.fromEntries(slots)]);
    return { router, overrides: Object.fromEntries(accounts) };
  });
  return `"overrides":${JSON.stringify(merged)},"venues":${JSON.stringify(listed)}`;
}

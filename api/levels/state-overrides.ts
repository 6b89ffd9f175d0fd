import type { Address, Hex } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { type StateOverrides, stateDiffs } from '../../chain/pending-state.ts';
import { liveMaxAgeMs } from '../../config/live-schema.ts';
import type { Heads } from '../../quoting/heads/heads.ts';
import { frameHead, targetOf } from './encode-frame.ts';
import type { LevelsFormat } from './forms.ts';
import type { FrameFeed, FrameFeeds } from './frame-feed.ts';
import type { ReadAt } from './one-state.ts';
import type { LevelsChain } from './price-levels.ts';

/** Ten frames a second, as relayers send them. */
const FRAME_MS = 100;

/** The overrides of the block that is being built, as far as their sources may be passed on. */
export class OverrideFrames {
  readonly #heads: Heads;

  constructor(
    private readonly chain: LevelsChain,
    private readonly feeds: FrameFeeds,
  ) {
    this.#heads = (chain.liveQuotes ?? chain).heads;
  }

  /** Reads those of all venues at a state, as one JSON text. */
  at(format: LevelsFormat): ReadAt<string> {
    return async ({ head }) => this.#write(format, head.block, []);
  }

  /** Says whether the chain is read, and how much is passed on at a state. */
  readonly status: ReadAt<object> = async ({ head: { block } }) => {
    const { live, blockTimeMs } = this.chain;
    return {
      ready: true,
      targetBlock: Number(targetOf(block, this.chain).blockNumber),
      liveQuotes: block.pending?.republished?.size ?? 0,
      builders: live?.sources.filter(({ republish }) => republish).length ?? 0,
      maxQuoteAgeMs: live ? liveMaxAgeMs(live, blockTimeMs) : 0,
    };
  };

  /** Frames in the form of BAP-710. Without a head there is none. @param routers the venues to show; none means all */
  feed(routers: readonly Address[]): FrameFeed {
    const key = JSON.stringify(['overrides', this.chain.chainId, routers]);
    return this.feeds.of(key, () => ({
      make: async () => {
        const head = this.#heads.fresh();
        return head ? Buffer.from(this.#write('bap710', head.block, routers)) : null;
      },
      start: () => this.#heads.watch(),
      minMs: FRAME_MS,
      maxMs: FRAME_MS,
    }));
  }

  #write(format: LevelsFormat, block: BlockRef, routers: readonly Address[]): string {
    const venues = [...(block.pending?.republished ?? [])];
    const shown = venues.filter(([venue]) => routers.length === 0 || routers.includes(venue));
    const head = frameHead(format, this.chain, targetOf(block, this.chain));
    return format === 'builder' ? `{${head}${builderFields(shown)}}` : `{${head},${relayerFields(shown)}}`;
  }
}

const builderFields = (venues: readonly (readonly [Address, StateOverrides])[]): string =>
  venues
    .map(([venue, overrides]) => `,"${venue}":${JSON.stringify({ stateOverride: stateDiffs(overrides) })}`)
    .join('');

function relayerFields(venues: readonly (readonly [Address, StateOverrides])[]): string {
  const merged: Record<Address, Record<Hex, Hex>> = {};
  // The newest venue comes first, and its overrides win.
  for (const [, overrides] of venues.toReversed())
    for (const [account, slots] of overrides) merged[account] = { ...merged[account], ...Object.fromEntries(slots) };
  const listed = venues.map(([router, overrides]) => ({ router, overrides: plain(overrides) }));
  return `"overrides":${JSON.stringify(merged)},"venues":${JSON.stringify(listed)}`;
}

const plain = (overrides: StateOverrides) =>
  Object.fromEntries([...overrides].map(([account, slots]) => [account, Object.fromEntries(slots)]));

import type { Address } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import type { Heads } from '../../quoting/heads/heads.ts';
import { passedOn, targetOf } from '../../quoting/live/target-block.ts';
import { type FrameForm, frameHead, parentField, writeOverrides } from '../../quoting/live/write-frame.ts';
import type { Stamp } from '../../runtime/shared-clock.ts';
import type { FrameFeed, FrameFeeds } from './frame-feed.ts';
import type { ReadAt } from './one-state.ts';
import type { LevelsChain } from './write-levels.ts';

/** Ten frames a second, as relayers send them. */
const RELAYER_PACE = { minMs: 100, maxMs: 100 };
/**
 * Builders send a frame at each change, at most 20 a second, and each 400 ms while a venue is live,
 * also if a timer is late.
 */
const LIVE_PACE = { minMs: 50, maxMs: 350 };
/** Otherwise an empty one each second. */
const QUIET_PACE = { minMs: 50, maxMs: 900 };

/** The overrides of the block that is being built, as far as their sources may be passed on. */
export class OverrideFrames {
  readonly #chain: LevelsChain;
  readonly #feeds: FrameFeeds;
  readonly #stamp: Stamp;
  readonly #heads: Heads;

  constructor(chain: LevelsChain, feeds: FrameFeeds, stamp: Stamp) {
    this.#chain = chain;
    this.#feeds = feeds;
    this.#stamp = stamp;
    this.#heads = (chain.liveQuotes ?? chain).heads;
  }

  /** Reads those of all venues at a state, as one JSON text. */
  at(form: 'builderAnswer' | 'bap710'): ReadAt<string> {
    return async ({ head }) => (await this.#write(form, head.block, [])).json;
  }

  /** How many clients read their frames here. */
  get readers(): number {
    return this.#feeds.readersOf(['overrides', this.#chain.chainId]);
  }

  /**
   * Opens frames at the pace of a form. Without a head there is none.
   *
   * @param routers the venues to show; none means all
   */
  async open(form: 'builder' | 'bap710', routers: readonly Address[]): Promise<FrameFeed> {
    await this.#heads.caughtUp();
    const key = JSON.stringify(['overrides', this.#chain.chainId, form, routers]);
    let pace = form === 'builder' ? QUIET_PACE : RELAYER_PACE;
    return this.#feeds.of(key, () => ({
      isShort: true,
      make: async () => {
        const head = this.#heads.fresh();
        const frame = head && (await this.#write(form, head.block, routers));
        if (form === 'builder') pace = frame?.isLive ? LIVE_PACE : QUIET_PACE;
        return head && frame ? { frame: Buffer.from(frame.json), block: head.block } : null;
      },
      start: (changed) => {
        const stops = [this.#heads.onHead(changed), this.#heads.watch()];
        return () => {
          for (const stop of stops) stop();
        };
      },
      get minMs() {
        return pace.minMs;
      },
      get maxMs() {
        return pace.maxMs;
      },
    }));
  }

  /** Writes a frame. `isLive`: any venue is live. */
  async #write(form: FrameForm, block: BlockRef, routers: readonly Address[]) {
    const madeAt = await this.#stamp();
    const target = targetOf(block, this.#chain);
    const head = frameHead(form, this.#chain.chainId, target, madeAt);
    const fields = form === 'bap710' ? `${head},${parentField(block)}` : head;
    const republished = passedOn(block, target);
    return { json: writeOverrides(form, fields, republished, routers), isLive: republished !== undefined };
  }
}

import type { Address } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import type { Heads } from '../../quoting/heads/heads.ts';
import { targetOf } from '../../quoting/live/target-block.ts';
import { type FrameForm, frameHead, writeOverrides } from '../../quoting/live/write-frame.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { FrameFeed, FrameFeeds } from './frame-feed.ts';
import type { ReadAt } from './one-state.ts';
import type { LevelsChain } from './write-levels.ts';

/** Ten frames a second, as relayers send them. */
const FRAME_MS = 100;

/** The overrides of the block that is being built, as far as their sources may be passed on. */
export class OverrideFrames {
  readonly #heads: Heads;

  constructor(
    private readonly chain: LevelsChain,
    private readonly feeds: FrameFeeds,
    private readonly wallClock: Clock,
  ) {
    this.#heads = (chain.liveQuotes ?? chain).heads;
  }

  /** Reads those of all venues at a state, as one JSON text. */
  at(form: FrameForm): ReadAt<string> {
    return async ({ head }) => this.#write(form, head.block, []);
  }

  /** How many clients read their frames here. */
  get readers(): number {
    return this.feeds.readersOf(['overrides', this.chain.chainId]);
  }

  /** Opens frames in the form of BAP-710. Without a head there is none. @param routers the venues to show; none means all */
  async open(routers: readonly Address[]): Promise<FrameFeed> {
    await this.#heads.caughtUp();
    const key = JSON.stringify(['overrides', this.chain.chainId, routers]);
    return this.feeds.of(key, () => ({
      make: async () => {
        const head = this.#heads.fresh();
        return head ? Buffer.from(this.#write('bap710', head.block, routers)) : null;
      },
      start: (changed) => {
        const stops = [this.#heads.onHead(changed), this.#heads.watch()];
        return () => {
          for (const stop of stops) stop();
        };
      },
      minMs: FRAME_MS,
      maxMs: FRAME_MS,
    }));
  }

  #write(form: FrameForm, block: BlockRef, routers: readonly Address[]): string {
    const head = frameHead(form, this.chain.chainId, targetOf(block, this.chain), this.wallClock());
    return writeOverrides(form, head, block.pending, routers);
  }
}

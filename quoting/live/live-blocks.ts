import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { PendingState } from '../../chain/pending-state.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import type { Clock } from '../../runtime/clock.ts';
import { pause } from '../../runtime/pause.ts';
import type { LiveFeed } from './live-feed.ts';
import type { LiveHeads } from './live-heads.ts';

/** A committed head, and the block that is being built on it. */
export type LiveBlock = ReportedHead & { readonly block: BlockHeader & { readonly pending: PendingState } };

/** The blocks being built, for reads of prices. */
export interface PriceBlocks {
  /** Take note of what nodes refuse. */
  readonly heads: Pick<LiveHeads, 'confirm' | 'reject' | 'suspend'>;
  /** Gives the block that is being built; null when none is, undefined when that is not known. Never rejects. */
  now(): Promise<LiveBlock | null | undefined>;
}

export interface LiveBlocksDeps {
  readonly heads: Pick<LiveHeads, 'head' | 'confirm' | 'reject' | 'suspend'>;
  readonly feed: Pick<LiveFeed, 'onFrame'>;
  /** Called before a block is looked for: the accounts are known then that no source may override. */
  readonly renewAccounts: () => Promise<void>;
  readonly now: Clock;
}

/** A source sends a frame every 100 to 400 ms: the first one after a new head may be on its way, to a busy machine. */
const FRAME_WAIT_MS = 1_000;
/** A source is silent that sent no frame for this long, even one without overrides. */
const SILENT_AFTER_MS = 5_000;

/** The blocks being built of a chain, for reads that may wait for a frame, such as scheduled ones. */
export class LiveBlocks implements PriceBlocks {
  readonly heads: Pick<LiveHeads, 'confirm' | 'reject' | 'suspend'>;
  readonly #deps: LiveBlocksDeps;
  readonly #now: Clock;
  #frameAt: number | null = null;

  constructor(deps: LiveBlocksDeps) {
    this.heads = deps.heads;
    this.#deps = deps;
    this.#now = deps.now;
    deps.feed.onFrame(() => {
      this.#frameAt = this.#now();
    });
  }

  /** Gives the block that is being built now, as quotes see it; null without one. Never rejects. */
  async now(): Promise<LiveBlock | null> {
    // Reads at the committed head report what is wrong with the nodes or the database.
    return this.#find().catch(() => null);
  }

  async #find(): Promise<LiveBlock | null> {
    const { heads, renewAccounts } = this.#deps;
    await renewAccounts();
    const head = await heads.head();
    if (isLive(head)) return head;
    const waitMs = frameWaitMs(this.#frameAt, this.#now());
    if (waitMs === 0) return null;
    await this.#nextFrame(waitMs);
    const later = await heads.head();
    return isLive(later) ? later : null;
  }

  /** Resolves when a frame is used, or after the wait. */
  async #nextFrame(waitMs: number): Promise<void> {
    const used = new AbortController();
    const stop = this.#deps.feed.onFrame(() => used.abort());
    await pause(waitMs, used.signal);
    stop();
  }
}

const isLive = (head: ReportedHead): head is LiveBlock => head.block.pending !== undefined;

/**
 * How long to wait for a frame while no block is being built, milliseconds:
 * reads do not wait for sources that are silent.
 *
 * @param frameAt when the last frame was used, on the same clock as `now`; null before the first
 */
export const frameWaitMs = (frameAt: number | null, now: number): number =>
  frameAt === null || now - frameAt > SILENT_AFTER_MS ? 0 : FRAME_WAIT_MS;

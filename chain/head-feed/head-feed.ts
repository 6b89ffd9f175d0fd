import type { Logger } from '../../runtime/logger.ts';
import type { BlockRef } from '../chain-rpc.ts';
import type { Clock } from '../circuit-breaker.ts';
import { openHeadSocket, type ToldHead } from './head-socket.ts';
import { LagFilter } from './lag-filter.ts';
import { silentAfterMs } from './silent-after.ts';

export interface HeadFeedOptions {
  readonly chainId: number;
  readonly blockTimeMs: number;
  readonly wsUrls: readonly string[];
  readonly count: (method: string, outcome: string) => void;
  readonly logger: Logger;
  readonly now?: Clock;
}

/** First pause before a socket is opened again; it doubles until heads come, up to the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/**
 * A socket that tells no head for this long, and for so many block times, is taken for dead and opened again. A head that is
 * older is none: the node still loads the chain.
 */
const DEAD_AFTER_MS = 30_000;
const DEAD_AFTER_BLOCKS = 10;

type Line = { readonly url: string; pauseMs: number; close: () => void; timer: NodeJS.Timeout | undefined };

/**
 * The heads of one chain, as the sockets of its nodes tell them: each block once, from the first socket that tells it.
 * Sockets that fail or fall silent are opened again, with growing pauses.
 */
export class HeadFeed {
  readonly #options: HeadFeedOptions;
  readonly #now: Clock;
  readonly #filter = new LagFilter();
  readonly #listeners = new Set<(head: ToldHead) => void>();
  readonly #lines: readonly Line[];
  #heardAt = Number.NEGATIVE_INFINITY;

  /** Opens the sockets. */
  constructor(options: HeadFeedOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#lines = options.wsUrls.map((url) => ({
      url,
      pauseMs: FIRST_PAUSE_MS,
      close: () => undefined,
      timer: undefined,
    }));
    for (const line of this.#lines) this.#open(line);
  }

  /** Whether a socket told a new head within two block times: nobody needs to look for one. */
  get isLive(): boolean {
    return this.#now() - this.#heardAt < silentAfterMs(this.#options.blockTimeMs);
  }

  /** @returns ends it */
  onHead(listener: (head: ToldHead) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A head that was looked up: lower ones that a socket tells are late. */
  note(block: BlockRef): void {
    this.#filter.note(block);
  }

  close(): void {
    this.#listeners.clear();
    for (const line of this.#lines) {
      clearTimeout(line.timer);
      line.close();
    }
  }

  #open(line: Line): void {
    const { chainId, count, logger } = this.#options;
    const host = new URL(line.url).host;
    line.close = openHeadSocket({
      url: line.url,
      chainId,
      count,
      onHead: (head) => this.#take(line, head),
      onEnd: (reason) => {
        logger.warn({ chainId, host, reason, pauseMs: line.pauseMs }, 'the socket of a node ended');
        this.#reopen(line);
      },
    });
    this.#expectHead(line);
  }

  #reopen(line: Line): void {
    clearTimeout(line.timer);
    line.timer = setTimeout(() => this.#open(line), line.pauseMs).unref();
    line.pauseMs = Math.min(line.pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #expectHead(line: Line): void {
    const { chainId, logger } = this.#options;
    clearTimeout(line.timer);
    line.timer = setTimeout(() => {
      logger.warn({ chainId, host: new URL(line.url).host }, 'the socket of a node is silent: it is opened again');
      line.close();
      this.#reopen(line);
    }, this.#patienceMs).unref();
  }

  get #patienceMs(): number {
    return Math.max(DEAD_AFTER_MS, DEAD_AFTER_BLOCKS * this.#options.blockTimeMs);
  }

  #take(line: Line, head: ToldHead): void {
    if (Date.now() - Number(head.block.timestamp) * 1_000 > this.#patienceMs) return;
    line.pauseMs = FIRST_PAUSE_MS;
    this.#expectHead(line);
    if (!this.#filter.isNews(line, head.block)) return;
    this.#heardAt = this.#now();
    for (const listener of this.#listeners) listener(head);
  }
}

import type { LiveSocket } from '../../runtime/live-socket.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { BlockRef } from '../chain-rpc.ts';
import type { Clock } from '../circuit-breaker.ts';
import { openHeadSocket, type PushedHead } from './head-socket.ts';
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

/**
 * A socket that pushes no head for this long, and for so many block times, is taken for dead and dialled again. An older
 * block is not a head: the node still loads the chain.
 */
const DEAD_AFTER_MS = 30_000;
const DEAD_AFTER_BLOCKS = 10;

type Source = { readonly socket: LiveSocket; readonly silence: NodeJS.Timeout };

/** The heads of one chain, as the sockets of its nodes push them: each block once, from the first socket that has it. */
export class HeadFeed {
  readonly #options: HeadFeedOptions;
  readonly #now: Clock;
  readonly #deadAfterMs: number;
  readonly #filter = new LagFilter();
  readonly #listeners = new Set<(head: PushedHead) => void>();
  readonly #sources: readonly Source[];
  #pushedAt = Number.NEGATIVE_INFINITY;

  /** Opens the sockets. */
  constructor(options: HeadFeedOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#deadAfterMs = Math.max(DEAD_AFTER_MS, DEAD_AFTER_BLOCKS * options.blockTimeMs);
    this.#sources = options.wsUrls.map((url) => this.#open(url));
  }

  /** Whether a socket pushed a new head within two block times: no poll is needed. */
  get isLive(): boolean {
    return this.#now() - this.#pushedAt < silentAfterMs(this.#options.blockTimeMs);
  }

  /** @returns ends it */
  onHead(listener: (head: PushedHead) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A head that was polled: lower ones that a socket pushes are late. */
  note(block: BlockRef): void {
    this.#filter.note(block);
  }

  close(): void {
    this.#listeners.clear();
    for (const { socket, silence } of this.#sources) {
      clearInterval(silence);
      socket.close();
    }
  }

  #open(url: string): Source {
    const { chainId, count } = this.#options;
    const logger = this.#options.logger.child({ chainId, host: new URL(url).host });
    const onHead = (head: PushedHead) => this.#take(source, head);
    const socket = openHeadSocket({ url, chainId, count, onHead, logger });
    const silence = setInterval(() => socket.reconnect('no head'), this.#deadAfterMs).unref();
    const source = { socket, silence };
    return source;
  }

  #take(source: Source, head: PushedHead): void {
    if (Date.now() - Number(head.block.timestamp) * 1_000 > this.#deadAfterMs) return;
    source.silence.refresh();
    if (!this.#filter.isNews(source, head.block)) return;
    this.#pushedAt = this.#now();
    for (const listener of this.#listeners) listener(head);
  }
}

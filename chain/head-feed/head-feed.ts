import { LRUCache } from 'lru-cache';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import type { LiveSocket } from '../../runtime/live-socket.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { BlockRef } from '../chain-rpc.ts';
import type { Clock } from '../circuit-breaker.ts';
import { openHeadSocket, type PushedHead } from './head-socket.ts';

export interface HeadFeedOptions {
  readonly chainId: number;
  readonly blockTimeMs: number;
  readonly wsUrls: readonly string[];
  readonly count: (method: string, outcome: string) => void;
  readonly logger: Logger;
  readonly now?: Clock;
}

/**
 * A socket that pushes no head for this long, and for this many block times, counts as dead and is dialled again. A
 * block that is older than that does not count as a head: its node still loads the chain.
 */
const DEAD_AFTER_MS = 30_000;
const DEAD_AFTER_BLOCKS = 10;
/** A feed without a head for this long, and for this many block times, does not replace polls. */
const STALE_AFTER_MS = 1_000;
const STALE_AFTER_BLOCKS = 2;
const REMEMBERED_HASHES = 256;

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

  /** Whether a socket pushed a new head within two block times, at least a second: then no poll is needed. */
  get isLive(): boolean {
    const staleAfterMs = Math.max(STALE_AFTER_MS, STALE_AFTER_BLOCKS * this.#options.blockTimeMs);
    return this.#now() - this.#pushedAt < staleAfterMs;
  }

  /** @returns removes the listener */
  onHead(listener: (head: PushedHead) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notes a head that was polled: lower heads that a socket pushes after it are late. */
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

/**
 * Filters out late heads. A block is news once. A block no higher than the highest is news only from a source that has
 * pushed its height or a higher one before: the chain of that source was reorganised, while other sources lag. Which
 * branch counts is decided by who takes the heads: `HeadTracker` of quotes, or Ponder.
 */
export class LagFilter {
  readonly #known = new LRUCache<string, true>({ max: REMEMBERED_HASHES });
  readonly #lastOf = new WeakMap<object, bigint>();
  #highest = -1n;

  /** Notes a block that was polled: heads that sockets push are compared with it too. */
  note({ number, hash }: BlockRef): void {
    if (number > this.#highest) this.#highest = number;
    this.#known.set(hash, true);
  }

  isNews(source: object, { number, hash }: BlockRef): boolean {
    const wentBack = number <= (this.#lastOf.get(source) ?? -1n);
    this.#lastOf.set(source, number);
    if (this.#known.has(hash) || (number <= this.#highest && !wentBack)) return false;
    this.#highest = number;
    this.#known.set(hash, true);
    return true;
  }
}

type ChainOfFeed = Pick<ChainConfig, 'chainId' | 'blockTimeMs' | 'wsUrls'>;

/** Opens the sockets of a chain; undefined when it has none. */
export function openHeadFeed(
  { chainId, blockTimeMs, wsUrls = [] }: ChainOfFeed,
  countCall: CountChainCall,
  logger: Logger,
): HeadFeed | undefined {
  const count = (method: string, outcome: string) => countCall(chainId, method, outcome);
  return wsUrls.length === 0 ? undefined : new HeadFeed({ chainId, blockTimeMs, wsUrls, count, logger });
}

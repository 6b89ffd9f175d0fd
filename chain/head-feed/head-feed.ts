import type { ChainConfig } from '../../config/chains-schema.ts';
import { partSource } from '../../config/live-schema.ts';
import { Alarm } from '../../runtime/alarm.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import type { Clock, Clocks } from '../../runtime/clock.ts';
import type { LiveSocket } from '../../runtime/live-socket.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { BlockRef } from '../read-context.ts';
import { type HeadSocketOptions, openHeadSocket, type PushedHead } from './head-socket.ts';
import { isFeedLive, newPushState, nextPushed, type PushEvent, type PushState } from './next-pushed.ts';

export interface HeadFeedOptions extends Clocks {
  readonly chainId: number;
  readonly blockTimeMs: number;
  readonly wsUrls: readonly string[];
  readonly count: (method: string, outcome: string) => void;
  readonly logger: Logger;
  /** Opens the socket of a node. Default: over the network. */
  readonly openSocket?: OpenHeadSocket | undefined;
}

/** Opens what pushes heads. */
export type OpenHeadSocket = (options: HeadSocketOptions) => Pick<LiveSocket, 'reconnect' | 'close'>;

/**
 * The heads of one chain, as the sockets of its nodes push them: each block once, from the first socket that has it.
 */
export class HeadFeed {
  readonly #options: HeadFeedOptions;
  readonly #now: Clock;
  readonly #listeners = new Set<(head: PushedHead) => void>();
  readonly #sockets: readonly ReturnType<OpenHeadSocket>[];
  readonly #alarm = new Alarm(() => this.#take({ kind: 'time' }));
  #state: PushState;

  /** Opens the sockets. */
  constructor(options: HeadFeedOptions) {
    this.#options = options;
    this.#now = options.now;
    this.#state = newPushState(options.wsUrls.length, this.#now());
    this.#sockets = options.wsUrls.map((url, source) => this.#open(url, source));
    this.#take({ kind: 'time' });
  }

  /** Whether a socket pushed a new head within two block times, at least a second: then no poll is needed. */
  get isLive(): boolean {
    return isFeedLive(this.#state, this.#now(), this.#options.blockTimeMs);
  }

  /** @returns removes the listener */
  onHead(listener: (head: PushedHead) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notes a head that was polled: lower heads that a socket pushes after it are late. */
  note(block: BlockRef): void {
    this.#take({ kind: 'polled', block });
  }

  close(): void {
    this.#listeners.clear();
    this.#state = newPushState(0, this.#now());
    this.#take({ kind: 'time' });
    for (const socket of this.#sockets) socket.close();
  }

  #open(url: string, source: number): ReturnType<OpenHeadSocket> {
    const { chainId, count, wallClock, openSocket = openHeadSocket } = this.#options;
    const logger = this.#options.logger.child({ chainId, host: new URL(url).host });
    const onHead = (head: PushedHead) => {
      if (!this.#take({ kind: 'pushed', source, block: head.block, wallMs: wallClock() })) return;
      for (const listener of this.#listeners) listener(head);
    };
    return openSocket({ url, chainId, count, onHead, logger });
  }

  /** @returns whether the event is a head to pass on */
  #take(event: PushEvent): boolean {
    const now = this.#now();
    const [state, { isNews, dead, wakeAt }] = nextPushed(this.#state, event, now, this.#options.blockTimeMs);
    this.#state = state;
    for (const source of dead) this.#sockets[source]?.reconnect('no head');
    this.#alarm.set(wakeAt, now);
    return isNews;
  }
}

type ChainOfFeed = Pick<ChainConfig, 'chainId' | 'blockTimeMs' | 'wsUrls' | 'live'>;

/** What the sockets of a chain are opened with. */
export type HeadFeedDeps = Pick<HeadFeedOptions, 'logger' | 'openSocket' | keyof Clocks> & {
  readonly countCall: CountChainCall;
};

/** Opens the sockets of a chain; undefined when it has none. Those that push parts of blocks push no sealed heads. */
export function openHeadFeed(
  { chainId, blockTimeMs, wsUrls: all = [], live }: ChainOfFeed,
  { countCall, logger, openSocket, now, wallClock }: HeadFeedDeps,
): HeadFeed | undefined {
  const count = (method: string, outcome: string) => countCall(chainId, method, outcome);
  const parts = partSource(live)?.wsUrls ?? [];
  const wsUrls = all.filter((url) => !parts.includes(url));
  return wsUrls.length === 0
    ? undefined
    : new HeadFeed({ chainId, blockTimeMs, wsUrls, count, logger, openSocket, now, wallClock });
}

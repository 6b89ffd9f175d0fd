import type { ChainConfig } from '../../config/chains-schema.ts';
import { partSource } from '../../config/live-schema.ts';
import { Alarm } from '../../runtime/alarm.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import type { Clock, Clocks } from '../../runtime/clock.ts';
import type { LiveSocket } from '../../runtime/live-socket.ts';
import type { Logger } from '../../runtime/logger.ts';
import { pause } from '../../runtime/pause.ts';
import type { ChainRpc } from '../chain-rpc.ts';
import type { BlockRef } from '../read-context.ts';
import { type HeadSocketOptions, openHeadSocket, type PushedHead } from './head-socket.ts';
import {
  isFeedLive,
  newPushState,
  nextPushed,
  type PushEffects,
  type PushEvent,
  type PushState,
} from './next-pushed.ts';

export interface HeadFeedOptions extends Clocks {
  readonly chainId: number;
  readonly blockTimeMs: number;
  readonly wsUrls: readonly string[];
  /** Asks nodes for pushed blocks. */
  readonly rpc: Pick<ChainRpc, 'header'>;
  /** Whether they are asked for every one. Default: until a socket has shown that it pushes no parts of blocks. */
  readonly checksAll?: boolean;
  readonly count: (method: string, outcome: string) => void;
  readonly logger: Logger;
  /** Opens the socket of a node. Default: over the network. */
  readonly openSocket?: OpenHeadSocket | undefined;
}

/** Opens what pushes heads. */
export type OpenHeadSocket = (options: HeadSocketOptions) => Pick<LiveSocket, 'reconnect' | 'close'>;

/** A socket may push a head this long before another node has it, milliseconds. */
const NODE_LAG_MS = 250;

/**
 * The heads of one chain, as the sockets of its nodes push them: each block once, from the first socket that has it.
 */
export class HeadFeed {
  readonly #options: HeadFeedOptions;
  readonly #now: Clock;
  readonly #listeners = new Set<(head: PushedHead) => void>();
  readonly #sockets: readonly ReturnType<OpenHeadSocket>[];
  readonly #alarm = new Alarm(() => this.#take({ kind: 'time' }));
  readonly #closed = new AbortController();
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
    this.#closed.abort();
    this.#listeners.clear();
    this.#state = newPushState(0, this.#now());
    this.#take({ kind: 'time' });
    for (const socket of this.#sockets) socket.close();
  }

  #open(url: string, source: number): ReturnType<OpenHeadSocket> {
    const { chainId, count, wallClock, openSocket = openHeadSocket } = this.#options;
    const logger = this.#options.logger.child({ chainId, host: new URL(url).host });
    const onHead = (head: PushedHead) => {
      const { isNews, toCheck } = this.#take({ kind: 'pushed', source, block: head.block, wallMs: wallClock() });
      if (isNews) this.#pass(head);
      else if (toCheck) void this.#check(head, toCheck.isBack);
    };
    const onEnd = () => void this.#take({ kind: 'ended', source });
    return openSocket({ url, chainId, count, onHead, onEnd, logger });
  }

  #pass(head: PushedHead): void {
    for (const listener of this.#listeners) listener(head);
  }

  /** Passes a head on once nodes have it. Never rejects. */
  async #check(head: PushedHead, isBack: boolean): Promise<void> {
    const { block } = head;
    const { signal } = this.#closed;
    const header = () => this.#options.rpc.header(block.hash, block.number, signal);
    const found = await header()
      .catch(() => pause(NODE_LAG_MS, signal).then(header))
      .catch(() => undefined);
    if (!found || signal.aborted) return;
    if (this.#take({ kind: 'checked', block, isBack }).isNews) this.#pass(head);
  }

  #take(event: PushEvent): PushEffects {
    const now = this.#now();
    const { blockTimeMs, checksAll = false } = this.#options;
    const [state, effects] = nextPushed(this.#state, event, now, { blockTimeMs, checksAll });
    this.#state = state;
    for (const source of effects.dead) this.#sockets[source]?.reconnect('no head');
    this.#alarm.set(effects.wakeAt, now);
    return effects;
  }
}

type ChainOfFeed = Pick<ChainConfig, 'chainId' | 'blockTimeMs' | 'wsUrls' | 'live'>;

/** What the sockets of a chain are opened with. */
export type HeadFeedDeps = Pick<HeadFeedOptions, 'rpc' | 'logger' | 'openSocket' | keyof Clocks> & {
  readonly countCall: CountChainCall;
};

/**
 * Opens the sockets of a chain; undefined when it has none. Those that push parts of blocks push no sealed heads: where
 * some do, nodes are asked for every head of the others.
 */
export function openHeadFeed(
  { chainId, blockTimeMs, wsUrls: all = [], live }: ChainOfFeed,
  { rpc, countCall, logger, openSocket, now, wallClock }: HeadFeedDeps,
): HeadFeed | undefined {
  const count = (method: string, outcome: string) => countCall(chainId, method, outcome);
  const source = partSource(live);
  const wsUrls = all.filter((url) => !source?.wsUrls.includes(url));
  const checksAll = source !== undefined;
  return wsUrls.length === 0
    ? undefined
    : new HeadFeed({ chainId, blockTimeMs, wsUrls, rpc, checksAll, count, logger, openSocket, now, wallClock });
}

import type { EventEmitter } from 'node:events';
import { WebSocket } from 'ws';
import type { Logger } from './logger.ts';
import { PostSocket } from './post-socket.ts';

/** What a WebSocket and a {@link PostSocket} have in common. */
type Connection = EventEmitter & Pick<PostSocket, 'readyState' | 'bufferedAmount' | 'send' | 'ping' | 'terminate'>;

export interface LiveSocketOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether each message is an HTTP request instead, see {@link PostSocket}. */
  readonly isPosting?: boolean;
  /** Shortest time between two dials. It doubles with each connection that does not stay open for `minPauseMs`. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
  /** Largest message of the server. Default: 1 MiB. */
  readonly maxMessageBytes?: number;
  /** Time between pings, and longest wait for a pong. */
  readonly pingMs?: number;
  readonly onOpen: () => void;
  readonly onMessage: (data: Buffer) => void;
  /** Called for each connection that ends, even if it never opened. */
  readonly onEnd?: () => void;
  readonly logger: Logger;
}

const PING_MS = 5_000;
const HANDSHAKE_TIMEOUT_MS = 5_000;
const MAX_MESSAGE_BYTES = 1_048_576;
/** With more unsent bytes than this, the server does not keep up: a turn sends 16 updates of 256 KiB at most. */
const MAX_BUFFERED_BYTES = 16 * 256 * 1_024;
const JITTER = 0.2;

/**
 * A WebSocket client that stays connected. It dials again, with growing, jittered pauses, when the connection is
 * closed, refused, too slow to drain or without pongs. In `onOpen`, the owner repeats earlier messages such as
 * subscriptions.
 */
export class LiveSocket {
  readonly #options: LiveSocketOptions;
  #socket: Connection | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  /** Dials. */
  constructor(options: LiveSocketOptions) {
    this.#options = options;
    this.#dial();
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Sends a message; call it only while {@link isOpen}. */
  send(data: string | Uint8Array): void {
    this.#socket?.send(data);
    if ((this.#socket?.bufferedAmount ?? 0) > MAX_BUFFERED_BYTES) this.reconnect('it does not drain');
  }

  /** Drops the connection at once and dials again. */
  reconnect(reason: string): void {
    this.#options.logger.warn({ reason }, 'connection replaced');
    this.#socket?.terminate();
  }

  /** Closes the connection at once. No callback is called after that. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#socket?.terminate();
  }

  #dial(): void {
    const { minPauseMs, pingMs = PING_MS, onOpen, onMessage, onEnd, logger } = this.#options;
    const dialledAt = performance.now();
    let openedAt = Number.POSITIVE_INFINITY;
    let isAlive = true;
    const socket = connect(this.#options);
    this.#socket = socket;
    const pings = setInterval(() => {
      if (socket.readyState !== WebSocket.OPEN) return;
      if (!isAlive) return this.reconnect('no pong');
      isAlive = false;
      socket.ping();
    }, pingMs).unref();
    socket.on('pong', () => {
      isAlive = true;
    });
    socket.on('open', () => {
      openedAt = performance.now();
      logger.info('connection open');
      onOpen();
    });
    socket.on('message', (data: Buffer) => {
      if (socket.readyState === WebSocket.OPEN) onMessage(data);
    });
    socket.on('error', ({ message }: Error) => logger.warn({ reason: message }, 'connection failed'));
    socket.on('close', (code?: number) => {
      clearInterval(pings);
      if (this.#isClosed) return;
      if (performance.now() - openedAt >= minPauseMs) this.#failures = 0;
      onEnd?.();
      this.#dialLater(dialledAt, code);
    });
  }

  #dialLater(dialledAt: number, code: number | undefined): void {
    const { minPauseMs, maxPauseMs, logger } = this.#options;
    const pauseMs = Math.min(maxPauseMs, minPauseMs * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    const delayMs = Math.max(0, dialledAt + pauseMs * (1 + JITTER * Math.random()) - performance.now());
    logger.info({ code, delayMs: Math.round(delayMs) }, 'connection closed, dialled again');
    this.#timer = setTimeout(() => this.#dial(), delayMs).unref();
  }
}

function connect({ url, headers = {}, isPosting, maxMessageBytes = MAX_MESSAGE_BYTES }: LiveSocketOptions): Connection {
  if (isPosting) return new PostSocket(url, headers);
  return new WebSocket(url, {
    headers,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
  });
}

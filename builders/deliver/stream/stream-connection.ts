import { EventEmitter } from 'node:events';
import { WebSocket } from 'ws';
import type { Logger } from '../../../runtime/logger.ts';

export type ConnectionTimes = {
  /** Shortest time between two dials. */
  readonly dialFloorMs: number;
  readonly longestDialDelayMs: number;
  /** Time between pings, and the time that a pong may take. */
  readonly keepaliveMs: number;
};

export const DEFAULT_TIMES: ConnectionTimes = { dialFloorMs: 2_000, longestDialDelayMs: 30_000, keepaliveMs: 5_000 };

/** More unsent bytes than this mean that the builder does not keep up. */
const MOST_BUFFERED_BYTES = 1_048_576;
const HANDSHAKE_TIMEOUT_MS = 5_000;
const JITTER = 0.2;

type Events = { open: []; frame: [Uint8Array] };

/**
 * One authenticated WebSocket that stays open: it dials again with growing, jittered pauses when it is closed, refused,
 * silent to pings or too slow to drain. What was unanswered when it broke is its owner's to send again on `open`.
 */
export class StreamConnection extends EventEmitter<Events> {
  readonly #target: { url: string; apiKey?: string };
  readonly #logger: Logger;
  readonly #times: ConnectionTimes;
  #socket: WebSocket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dialledAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #closed = false;

  constructor(target: { url: string; apiKey?: string }, logger: Logger, times: ConnectionTimes = DEFAULT_TIMES) {
    super();
    this.#target = target;
    this.#logger = logger;
    this.#times = times;
    // Each update that waits for the connection listens; how many do is bounded by who delivers them.
    this.setMaxListeners(0);
    this.#dial();
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Writes a frame; call only while {@link isOpen}. A connection that does not drain is replaced. */
  send(frame: Uint8Array): void {
    this.#socket?.send(frame);
    if ((this.#socket?.bufferedAmount ?? 0) > MOST_BUFFERED_BYTES) this.reconnect('it does not drain');
  }

  /** Waits until the connection is open. Returns false when that takes longer than `timeoutMs`. */
  whenOpen(timeoutMs: number): Promise<boolean> {
    if (this.isOpen) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.off('open', done);
        resolve(this.isOpen);
      };
      const timer = setTimeout(done, timeoutMs);
      this.on('open', done);
    });
  }

  /** Drops the socket and dials again. */
  reconnect(reason: string): void {
    this.#logger.warn({ reason }, 'builder connection replaced');
    this.#socket?.terminate();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.terminate();
  }

  #dial(): void {
    this.#dialledAt = performance.now();
    const { url, apiKey } = this.#target;
    const socket = new WebSocket(url, {
      headers: apiKey === undefined ? {} : { Authorization: apiKey },
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      perMessageDeflate: false,
    });
    socket.binaryType = 'nodebuffer';
    this.#socket = socket;
    const keepalive = this.#watch(socket);
    let openedAt = Number.POSITIVE_INFINITY;
    socket.on('open', () => {
      openedAt = performance.now();
      this.#logger.info('builder connection open');
      this.emit('open');
    });
    socket.on('message', (data: Buffer) => this.emit('frame', data));
    socket.on('error', (error) => this.#logger.warn({ reason: error.message }, 'builder connection failed'));
    socket.on('close', (code) => {
      clearInterval(keepalive);
      // A connection that held for a while is no sign of a builder that refuses us.
      if (performance.now() - openedAt >= this.#times.dialFloorMs) this.#failures = 0;
      this.#redialLater(code);
    });
  }

  /** Pings at an interval; a ping without pong by the next one ends the socket. */
  #watch(socket: WebSocket): NodeJS.Timeout {
    let alive = true;
    socket.on('pong', () => {
      alive = true;
    });
    return setInterval(() => {
      if (socket.readyState !== WebSocket.OPEN) return;
      if (!alive) return this.reconnect('no pong');
      alive = false;
      socket.ping();
    }, this.#times.keepaliveMs);
  }

  #redialLater(code: number): void {
    if (this.#closed) return;
    const { dialFloorMs, longestDialDelayMs } = this.#times;
    const pause = Math.min(longestDialDelayMs, dialFloorMs * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    const jittered = pause * (1 + JITTER * Math.random());
    const delay = Math.max(0, this.#dialledAt + jittered - performance.now());
    this.#logger.info({ code, delayMs: Math.round(delay) }, 'builder connection closed, dialling again');
    this.#timer = setTimeout(() => this.#dial(), delay);
  }
}

import { EventEmitter } from 'node:events';
import { WebSocket } from 'ws';
import { HttpFailure, refusesAll, sendRequest } from './http-request.ts';

/** Later responses are not waited for; the owner notices that messages are missing. */
const TIMEOUT_MS = 5_000;

/**
 * Sends each message as an HTTP request, whose response is a message of the server. It has the events of a WebSocket,
 * so that `LiveSocket` keeps both connected alike. A failed request, a redirect, or a status that {@link refusesAll}
 * ends the connection and aborts its other requests. Requests run at the same time:
 * the server may get them in any order.
 */
export class PostSocket extends EventEmitter {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #closed = new AbortController();
  readonly bufferedAmount: number = 0;
  readyState: number = WebSocket.CONNECTING;

  /** Opens at the next tick. */
  constructor(url: string, headers: Readonly<Record<string, string>>) {
    super();
    this.#url = url;
    this.#headers = headers;
    process.nextTick(() => {
      if (this.readyState !== WebSocket.CONNECTING) return;
      this.readyState = WebSocket.OPEN;
      this.emit('open');
    });
  }

  send(message: string | Uint8Array): void {
    void this.#post(message.toString());
  }

  /** Requests show by themselves whether the server is there. */
  ping(): void {
    this.emit('pong');
  }

  terminate(): void {
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    this.#closed.abort();
    this.emit('close');
  }

  async #post(body: string): Promise<void> {
    const request = { body, headers: this.#headers, timeoutMs: TIMEOUT_MS, signal: this.#closed.signal };
    const response = await sendRequest(this.#url, request).catch((error: HttpFailure) => error);
    if (this.readyState === WebSocket.CLOSED) return;
    if (response instanceof HttpFailure) {
      if (response.code !== 'timeout') this.#fail(response.message);
    } else if (refusesAll(response.status) || (response.status >= 300 && response.status < 400)) {
      this.#fail(`HTTP ${response.status}`);
    } else this.emit('message', Buffer.from(response.text));
  }

  #fail(message: string): void {
    this.emit('error', new Error(message));
    this.terminate();
  }
}

import { follow } from './follow.ts';
import { HeldQuotes } from './held-quotes.ts';
import { followEvents } from './sse.ts';
import type { StreamState } from './types.ts';
import { followSocket, type WebSocketConstructor } from './web-socket.ts';

export interface StreamOptions {
  /** Origin of the service, such as `http://localhost:3000`. */
  readonly url: string;
  readonly chainId: number;
  /** Addresses of 1 to 500 pools. */
  readonly pools: readonly string[];
  /** Whether quotes have depth. Default: true. */
  readonly depth?: boolean | undefined;
  /** `committed`: no quotes of the block that is being built. Default: what the service takes, `live`. */
  readonly basis?: 'live' | 'committed' | undefined;
  /** Trading API key: raises limits. */
  readonly apiKey?: string | undefined;
  /**
   * A connection that is silent for this long is dead, milliseconds. Default: 6,000. Before the first message, and of
   * events of an older service, which is silent between heartbeats, 20,000.
   */
  readonly silenceMs?: number | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /** Default: that of the platform. Without one, SSE is used. */
  readonly WebSocket?: WebSocketConstructor | undefined;
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const MAX_POOLS = 500;

/**
 * Follows the quotes of pools. Each iteration has the newest state. A slow consumer misses states in between, but no
 * state has a quote that the service has withdrawn.
 *
 * A connection that ends, loses a message or is silent for `silenceMs` is opened again and resumed. A refused
 * WebSocket is replaced by server-sent events, and refused events by batch requests. Both are tried again after 30 s.
 *
 * @yields the state whenever it changes. Without a block, nothing is known to be current: stop trading
 * @throws ResponseError when the service rejects the request: 400, 401 or 404 (one of a proxy is tried again).
 *   RangeError for too many or no pools
 * @example for await (const { block, quotes, stale } of stream({ url, chainId: 31337, pools })) { if (!block ||
 *   stale.size > 0) stopTrading(); else trade(quotes); }
 */
export async function* stream(options: StreamOptions): AsyncGenerator<StreamState, void, void> {
  const { url, chainId, depth = true, basis, apiKey, signal, silenceMs } = options;
  const { fetch = (...args) => globalThis.fetch(...args) } = options;
  const pools = [...new Set(options.pools.map((pool) => pool.toLowerCase()))];
  if (pools.length === 0 || pools.length > MAX_POOLS) throw new RangeError(`A stream has 1 to ${MAX_POOLS} pools`);
  const base = `${url.replace(/\/+$/, '')}/public/v1/evm/${chainId}`;
  const WebSocket = 'WebSocket' in options ? options.WebSocket : platformWebSocket();
  const held = new HeldQuotes(pools, startWatch);
  const change = new Change();
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  const transports = [
    ...(WebSocket ? [['websocket', followSocket(WebSocket)] as const] : []),
    ['sse', followEvents] as const,
  ];
  let failure: { readonly error: unknown } | undefined;
  const connection = { base, pools, depth, basis, apiKey, fetch, silenceMs };
  const following = follow({ connection, held, notify: () => change.notify(), signal: stop.signal }, transports)
    .catch((error: unknown) => {
      if (!stop.signal.aborted) failure = { error };
    })
    .finally(() => change.notify());
  try {
    for (;;) {
      await change.next();
      if (failure) throw failure.error;
      if (stop.signal.aborted) return;
      yield held.state();
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    stop.abort();
    await following;
  }
}

/**
 * Starts to measure a time. The clock that went further counts: a monotonic one stands still while the machine sleeps,
 * the other one may be set back.
 */
function startWatch(): () => number {
  const [monotonic, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonic, Date.now() - wall);
}

const platformWebSocket = () => (globalThis as { readonly WebSocket?: WebSocketConstructor }).WebSocket;

/** Wakes one waiter. Several notices before it waits count as one. */
class Change {
  #isDue = false;
  #wake: () => void = () => undefined;

  notify(): void {
    this.#isDue = true;
    this.#wake();
  }

  async next(): Promise<void> {
    if (!this.#isDue) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#isDue = false;
  }
}

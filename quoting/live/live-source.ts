import { CircuitBreaker } from '../../chain/circuit-breaker.ts';
import type { RemoteSourceConfig } from '../../config/live-schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import { HttpFailure, sendRequest } from '../../runtime/http-request.ts';
import { LiveSocket } from '../../runtime/live-socket.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { builderFrames } from './builder-frame.ts';
import { type Frame, FrameError, type FrameFault } from './frame.ts';
import { parseRelayerFrame } from './relayer-frame.ts';

/** Why a request or a connection brought no frame; `unreachable` also counts each connection that ended. */
export type SourceFault = FrameFault | 'unreachable' | 'timeout';

export interface LiveSourceOptions {
  readonly chainId: number;
  /** With its `env:` references resolved. */
  readonly config: RemoteSourceConfig;
  /** Sent to every URL of the source, never logged. Default: none is sent. */
  readonly apiKey?: string | undefined;
  /** Takes a frame, and returns whether it was used. Must not throw. */
  readonly onFrame: (frame: Frame) => boolean;
  readonly count: (fault: SourceFault) => void;
  readonly logger: Logger;
  readonly now: Clock;
}

/** How sources of one kind are spoken to. */
interface Form {
  /** Header of the key. */
  readonly keyHeader: string;
  /** The call, without parameters, that returns a frame on request. */
  readonly method: string;
  /** What a socket must send to get frames. */
  readonly subscription?: { readonly method: string; readonly params: readonly unknown[] };
  /** Makes what reads the frames of a source. */
  readonly reader: () => (text: string, chainId: number) => Frame | undefined;
}

const FORMS: Readonly<Record<RemoteSourceConfig['kind'], Form>> = {
  'builder-overrides': {
    keyHeader: 'authorization',
    method: 'titan_getPammStateOverrides',
    reader: builderFrames,
  },
  relayer: {
    keyHeader: 'x-api-key',
    method: 'pamm_getPammStateOverrides',
    subscription: { method: 'pamm_subscribe', params: ['subscribeNewQuotesV1', { routers: [] }] },
    reader: () => parseRelayerFrame,
  },
};

const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
/** Sources send several frames a second and no keep-alives: a socket without a used frame for this long is replaced. */
const SILENT_AFTER_MS = 5_000;
/** Without a used frame from a socket for this long, frames are requested over HTTP. */
const FALLBACK_AFTER_MS = 1_000;
/** Pause after each request of a frame: each URL gets two a second at most. */
const POLL_MS = 500;
const REQUEST_TIMEOUT_MS = 2_000;

/**
 * One configured source of pending state. Its sockets push frames. Over HTTP it requests the first frame, and further
 * ones while no socket pushes any. A message without a usable frame is counted and dropped. A socket's message beyond
 * 1 MiB ends the connection, which is dialled again.
 */
export class LiveSource {
  readonly #options: LiveSourceOptions;
  readonly #form: Form;
  readonly #parse: ReturnType<Form['reader']>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #now: Clock;
  readonly #endpoints: readonly { readonly url: string; readonly breaker: CircuitBreaker }[];
  readonly #stops: readonly (() => void)[];
  readonly #closed = new AbortController();
  #pushedAt = Number.NEGATIVE_INFINITY;

  /** Opens the sockets and requests the first frame. */
  constructor(options: LiveSourceOptions) {
    const { config, apiKey, now } = options;
    this.#options = options;
    this.#form = FORMS[config.kind];
    this.#parse = this.#form.reader();
    this.#headers = apiKey === undefined ? {} : { [this.#form.keyHeader]: apiKey };
    this.#now = now;
    this.#endpoints = config.rpcUrls.map((url) => ({ url, breaker: new CircuitBreaker(now) }));
    const stops = config.wsUrls.map((url) => this.#openSocket(url));
    this.#stops = this.#endpoints.length > 0 ? [...stops, startRepeating(() => this.#poll(), POLL_MS)] : stops;
  }

  /** Ends connections and requests. No callback is called after that. */
  close(): void {
    this.#closed.abort();
    for (const stop of this.#stops) stop();
  }

  /** @returns closes the socket */
  #openSocket(url: string): () => void {
    const { subscription } = this.#form;
    const { count, onFrame } = this.#options;
    const socket = new LiveSocket({
      url,
      headers: this.#headers,
      minPauseMs: MIN_PAUSE_MS,
      maxPauseMs: MAX_PAUSE_MS,
      logger: this.#options.logger.child({ host: new URL(url).host }),
      onOpen: () => {
        silence.refresh();
        if (subscription) socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, ...subscription }));
      },
      onMessage: (data) => {
        const frame = this.#read(() => data.toString());
        if (!frame || !onFrame(frame)) return;
        this.#pushedAt = this.#now();
        silence.refresh();
      },
      onEnd: () => count('unreachable'),
    });
    const silence = setInterval(() => {
      if (socket.isOpen) socket.reconnect('no frame');
    }, SILENT_AFTER_MS).unref();
    return () => {
      clearInterval(silence);
      socket.close();
    };
  }

  /** Requests a frame from each URL in order until one has it, unless a socket pushes frames. Never rejects. */
  async #poll(): Promise<void> {
    const startedAt = this.#now();
    if (startedAt - this.#pushedAt < FALLBACK_AFTER_MS) return;
    for (const { url, breaker } of this.#endpoints) {
      if (!breaker.tryPass()) continue;
      const frame = await this.#request(url);
      if (this.#closed.signal.aborted) return;
      if (!frame) breaker.failed();
      else {
        breaker.succeeded();
        // A frame that a socket pushed meanwhile is newer.
        if (this.#pushedAt < startedAt) this.#options.onFrame(frame);
        return;
      }
    }
  }

  async #request(url: string): Promise<Frame | undefined> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: this.#form.method, params: [] });
    const request = { body, headers: this.#headers, timeoutMs: REQUEST_TIMEOUT_MS, signal: this.#closed.signal };
    const response = await sendRequest(url, request).catch((error: HttpFailure) => error);
    return this.#read(() => {
      if (response instanceof Error) throw response;
      if (response.status >= 300) throw new FrameError('refused');
      return response.text;
    });
  }

  /** Reads a frame, or counts why there is none. */
  #read(textOf: () => string): Frame | undefined {
    try {
      return this.#parse(textOf(), this.#options.chainId);
    } catch (error) {
      const fault = faultOf(error);
      if (fault) this.#options.count(fault);
      return undefined;
    }
  }
}

/** @returns undefined for a request that was given up because the source is closed */
function faultOf(error: unknown): SourceFault | undefined {
  if (!(error instanceof HttpFailure)) return error instanceof FrameError ? error.code : 'malformed';
  if (error.code === 'too_large') return 'oversized';
  return error.code === 'aborted' ? undefined : error.code;
}

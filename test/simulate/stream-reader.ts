import { toQuote } from '../../api/quotes/quote-body.ts';
import { stream } from '../../client/stream/stream.ts';
import type { StreamState } from '../../client/stream/types.ts';
import type { Basis } from '../../quoting/quote-basis.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ApiProcess } from './api-process.ts';
import { Machine } from './machine.ts';
import type { Random } from './random.ts';
import { StreamSocket } from './stream-socket.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface StreamReaderOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly pools: readonly string[];
  readonly depth: boolean;
  readonly basis: Basis;
  readonly chainId: number;
  readonly logger: Logger;
  /** The process that a new connection reaches; undefined: none. */
  readonly target: () => ApiProcess | undefined;
  /** Called after each change of what it holds. */
  readonly onState: (reader: StreamReader) => void;
}

/**
 * How long it takes until a reader is current again whose connection ended,
 * or ended in silence before its first message.
 */
const RECONNECTED_MS = 3_000;
const DEAD_MS = 23_000;

/** Where a connection leads while all processes are dead. */
const UNREACHABLE = new Machine('unreachable');
UNREACHABLE.isDead = true;

/** A program that follows quotes with the client package, over a WebSocket, or by batches where that is refused. */
export class StreamReader {
  readonly options: StreamReaderOptions;
  state: StreamState | undefined;
  /** How many connections it began. */
  connections = 0;
  /** Until then it may miss what others know: its connection ended, which it may not know yet. */
  troubledUntil = 0;
  /** The process that it is connected to, or was. */
  server: Machine | undefined;
  #socket: StreamSocket | undefined;
  /** Ends its stream. */
  #stop = new AbortController();
  /** Fails the last request. */
  #reset: (() => void) | undefined;

  constructor(options: StreamReaderOptions) {
    this.options = options;
    void this.#follow();
  }

  /** Its connection breaks. @param isSilent so that neither end sees that at once */
  leave(isSilent: boolean): void {
    const { time } = this.options;
    this.troubledUntil = time.now + (isSilent ? DEAD_MS : RECONNECTED_MS);
    if (!isSilent) this.#reset?.();
    if (isSilent && this.#socket) this.#socket.isCut = true;
    else this.#socket?.break();
  }

  /** Whether it follows nothing. */
  get isAway(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Ends its stream, or begins another one that knows nothing of the last. */
  setAway(isAway: boolean): void {
    if (isAway === this.isAway) return;
    this.state = undefined;
    if (isAway) {
      this.#stop.abort();
      return;
    }
    this.troubledUntil = this.options.time.now + RECONNECTED_MS;
    this.#stop = new AbortController();
    void this.#follow();
  }

  async #follow(): Promise<void> {
    const { time, random, pools, depth, basis, chainId, logger, target, onState } = this.options;
    const reader = this;
    const { signal } = this.#stop;
    class Socket extends StreamSocket {
      constructor() {
        const process = target();
        const open = () => process?.streams.chains.get(chainId)?.[basis];
        super(time, random, process?.machine ?? UNREACHABLE, open, logger);
        reader.connections += 1;
        reader.#socket = this;
        reader.server = this.server;
      }
    }
    const options = { url: 'http://api', chainId, pools, depth, basis, WebSocket: Socket, fetch: this.#fetch, signal };
    for await (const state of stream(options)) {
      if (signal.aborted) return;
      this.state = state;
      onState(this);
    }
  }

  /** Batches alone: a stream of events is refused. */
  readonly #fetch: typeof fetch = async (url, init) => {
    const { time, random } = this.options;
    const client = time.machine;
    const over = (ms: number, machine: Machine) =>
      new Promise<void>((resolve) => void time.after(ms, resolve, machine));
    const process = this.options.target();
    const isBatch = String(url).endsWith('/bid_ask/batch');
    await over(random.int(1, 20), client);
    if (!process || process.machine.isDead) throw new TypeError('fetch failed');
    this.server = process.machine;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.#reset = () => reject(new TypeError('fetch failed'));
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    const serve = async () => {
      const response = isBatch ? await this.#batch(process) : responseOf(503, { error: 'Unavailable' });
      time.after(random.int(1, 20), () => resolve(response), client);
    };
    time.after(0, () => void serve(), process.machine);
    return promise;
  };

  async #batch(process: ApiProcess): Promise<Response> {
    const { basis, depth, pools } = this.options;
    const { snapshots, requested } = process[basis];
    const named = process.pools.filter(({ address }) => pools.includes(address));
    const kind = depth ? 'depths' : 'prices';
    requested.markRequested(named, kind, true);
    const found = await snapshots[kind](named, { signal: AbortSignal.timeout(5_000) });
    const read = [...found.values()].flatMap((each) => (each instanceof SnapshotError ? [] : [each.block]));
    const oldest = read.sort((one, other) => Number(one.number - other.number))[0];
    const results = [...found].map(([poolAddress, each]) =>
      each instanceof SnapshotError
        ? { poolAddress, error: { status: 503, error: each.message } }
        : { poolAddress, quote: toQuote(each) },
    );
    const headers = oldest ? { 'X-Block-Number': `${oldest.number}`, 'X-Block-Hash': oldest.hash } : {};
    return responseOf(200, { results }, headers);
  }
}

/** As much of a response as the client package uses. */
const responseOf = (status: number, body: unknown, headers: Record<string, string> = {}): Response => {
  const text = JSON.stringify(body);
  const response = {
    ok: status === 200,
    status,
    headers: new Headers(headers),
    body: null,
    json: async () => JSON.parse(text),
  };
  return response as unknown as Response;
};

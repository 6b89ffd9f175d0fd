import type { components } from '../schema.d.ts';

export type Quote = components['schemas']['Quote'];

/** The block that quotes are of. */
export interface Block {
  readonly number: number;
  readonly hash: string;
  /**
   * Its time, Unix seconds: a quote may be read at a block that is older than its `serverTs`, by up to the service's
   * `quotes.maxAgeMs`. Null with `batch`, where it is not known.
   */
  readonly timestamp: number | null;
}

/** Why a pool has no quote to use. */
export interface Stale {
  /** HTTP status that the endpoint of one pool would return; null when the connection is the reason. */
  readonly status: number | null;
  readonly error: string;
}

/** How quotes arrive. `batch`: by requests every two seconds. */
export type TransportName = 'websocket' | 'sse' | 'batch';

/** What is known now. Each requested pool is in `quotes` or in `stale`, by its address in lower case. */
export interface StreamState {
  /**
   * The block of all quotes; with `batch`, the oldest of their blocks. Null: nothing is known to be current, do not
   * trade.
   */
  readonly block: Block | null;
  /** Quotes to use. Their `serverTs` is at least the time of the block at which the stream confirmed them. */
  readonly quotes: ReadonlyMap<string, Quote>;
  /** Pools without a quote to use. Do not use their earlier quotes. */
  readonly stale: ReadonlyMap<string, Stale>;
  readonly transport: TransportName;
  /**
   * Time since the service last confirmed this state, milliseconds, when it is called: by a message, or by an answer
   * over the same connection that nothing followed; with `batch`, since its requests were sent. It grows while the
   * connection is silent, and once a newer state exists.
   */
  readonly ageMs: () => number;
}

/** A message of the stream, of either transport. */
export interface StreamMessage {
  readonly event: string;
  /** Resumes after this message; empty or left out when that is not possible. */
  readonly id?: string;
  readonly seq: number;
  readonly prevSeq: number | null;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly blockTimestamp: number;
  readonly fromBlock?: number;
  readonly quotes?: readonly Quote[];
  readonly errors?: readonly PoolFailure[];
  /** Pools of the events `stale` and, with a reason, `removed`. */
  readonly pools?: readonly (Partial<PoolFailure> & { readonly poolAddress: string; readonly reason?: string })[];
  readonly last?: boolean;
  readonly reason?: string;
  readonly retryMs?: number;
}

export interface PoolFailure {
  readonly poolAddress: string;
  readonly status: number;
  readonly error: string;
}

/** What a transport needs to connect. */
export interface Connection {
  /** Address of the chain's endpoints, without a slash at its end. */
  readonly base: string;
  readonly pools: readonly string[];
  readonly depth: boolean;
  readonly basis: 'live' | 'committed' | undefined;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** A connection that is silent for this long is dead, milliseconds. */
  readonly silenceMs: number | undefined;
}

/**
 * Connects and passes messages on until the connection ends. Then it rejects with the reason.
 *
 * @param after id to resume after; empty: from scratch
 * @param onMessage is called with null when the service answers, but has no message
 */
export type Transport = (
  connection: Connection,
  after: string,
  onMessage: (message: StreamMessage | null) => void,
  signal: AbortSignal,
) => Promise<never>;

import type { Address } from 'viem';
import type { ServedPool } from '../snapshots/pool-directory.ts';

/** What a message is; in WebSocket its field `event`. */
export type StreamEventName = 'snapshot' | 'update' | 'stale' | 'removed' | 'reorg' | 'heartbeat' | 'gap' | 'bye';

/** Why a connection ends from our side. */
export type ByeReason = 'shutdown' | 'limits' | 'key_revoked';

/** Why a pool is no longer served: an operator delisted it, or it is not in the index any more. */
export type RemovalReason = 'delisted' | 'not_served';

/** What a connection's transport offers: server-sent events or a WebSocket. */
export interface StreamTransport {
  /**
   * Sends one message.
   *
   * @param id `epoch-seq-pools`; empty in a message that a connection cannot be resumed after: it has no id then
   * @param data one line of JSON, an object
   */
  send(event: StreamEventName, id: string, data: string): void;
  /** Bytes handed over and not yet taken by the client's socket. */
  readonly unsentBytes: number;
  /** Calls when little is left unsent after `unsentBytes` was large. */
  onDrain(listener: () => void): void;
  /** Ends the connection after what was sent is out. */
  end(): void;
  /** Ends it at once. */
  cut(): void;
}

/** What a connection subscribes to. */
export interface Subscription {
  /** Served pools, or `all`: every listed pool of the chain, new ones too. */
  readonly pools: readonly ServedPool[] | 'all';
  /** Named, but not served: told as errors of the snapshot. */
  readonly unknown?: readonly Address[];
  readonly depth: boolean;
  /** The id of the last message that the client got: resumes after it where that is possible, else says `gap`. */
  readonly after?: string;
}

/** One connection's part of a chain's stream. Its transport may be SSE or WebSocket; nothing below depends on which. */
export interface StreamReader {
  /** Tells a snapshot of these pools, then their changes. Pools that it has already are told anew. */
  subscribe(subscription: Subscription): void;
  unsubscribe(pools: readonly Address[]): void;
  /** Pools that it is subscribed to now. */
  readonly poolCount: number;
  /** Says `bye` and ends the transport. */
  close(reason: ByeReason, retryMs: number): void;
  /** The transport is gone: forgets the connection. To be called once, whoever ended it. */
  gone(): void;
}

/** Who opens a connection. Simulated pools are read for keys only. */
export interface StreamClient {
  readonly hasKey: boolean;
}

/** Told what happens on a chain's streams, for metrics. Must not throw. */
export interface StreamObserver {
  /** A connection goes on after the last message that it got, or could not. */
  resumed(chainId: number): void;
  gap(chainId: number): void;
  /** A connection that did not read was cut. */
  cut(chainId: number): void;
  /** A round was written to all connections that it concerned; both in milliseconds since the head was seen. */
  told(chainId: number, readyMs: number, writtenMs: number): void;
}

/** The streams of one chain. */
export interface ChainStream {
  /**
   * A new connection, without subscriptions yet.
   *
   * @throws SnapshotError when the chain's head is not known
   */
  open(transport: StreamTransport, client: StreamClient): Promise<StreamReader>;
}

/** The streams of all chains. */
export interface Streams {
  /** @throws RangeError when the chain is not configured */
  of(chainId: number): ChainStream;
  /** Says `bye` to all and takes no more. */
  close(): void;
}

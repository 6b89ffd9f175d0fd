import type { Address } from 'viem';

/** What a message is; in WebSocket its field `event`. */
export type StreamEventName = 'snapshot' | 'update' | 'stale' | 'removed' | 'reorg' | 'heartbeat' | 'gap' | 'bye';

/** What a connection's transport offers: server-sent events or a WebSocket. */
export interface StreamTransport {
  /**
   * Sends one message.
   *
   * @param id empty in a message that a connection cannot resume after
   * @param data one line of JSON, an object
   */
  send(event: StreamEventName, id: string, data: string): void;
  /** Bytes handed over and not yet taken by the client's socket. */
  readonly unsentBytes: number;
  /** Calls the listener when little is left unsent after `unsentBytes` was large. */
  onDrain(listener: () => void): void;
  /** Ends the connection once all that was sent is written. */
  end(): void;
  /** Ends the connection at once. */
  terminate(): void;
}

/** What a connection subscribes to. */
export interface Subscription {
  /** Addresses, or `all`: every listed pool of the chain, new ones too. */
  readonly pools: readonly Address[] | 'all';
  readonly depth: boolean;
  /** The id of the client's last message: the stream resumes after it if the pools are the same, else sends `gap`. */
  readonly after?: string | undefined;
}

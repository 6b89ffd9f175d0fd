import { type Envelope, messageJson } from './messages.ts';
import type { StreamEventName, StreamTransport } from './types.ts';

/** Writes the messages of one connection, and knows how its client keeps up. */
export class Outlet {
  readonly #transport: StreamTransport;
  readonly #maxUnsentBytes: number;
  readonly #now: () => number;
  #sentAt: number;
  #fullSince: number | null = null;
  /** The `seq` of the last message on this connection. */
  #prevSeq: number | null = null;

  /** @param maxUnsentBytes nothing more is to be sent while so much is unsent */
  constructor(transport: StreamTransport, maxUnsentBytes: number, now: () => number) {
    this.#transport = transport;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#now = now;
    this.#sentAt = now();
  }

  /** Whether the client must take some of what was sent before it is sent more. */
  get isFull(): boolean {
    const isFull = this.#transport.unsentBytes >= this.#maxUnsentBytes;
    this.#fullSince = isFull ? (this.#fullSince ?? this.#now()) : null;
    return isFull;
  }

  /** For how long it has been full, in milliseconds. */
  get fullMs(): number {
    return this.isFull ? this.#now() - (this.#fullSince ?? this.#now()) : 0;
  }

  /** Since the last message, in milliseconds. */
  get silentMs(): number {
    return this.#now() - this.#sentAt;
  }

  /**
   * @param fields as `messageJson` takes them
   * @param poolSet the pools of which the client knows everything up to here: the message has an id then
   */
  send(event: StreamEventName, envelope: Envelope, fields: string, poolSet: string | null = null): void {
    const id = poolSet === null ? '' : `${envelope.epoch}-${envelope.seq}-${poolSet}`;
    this.#transport.send(event, id, messageJson(envelope, this.#prevSeq, fields));
    this.#prevSeq = envelope.seq;
    this.#sentAt = this.#now();
  }
}

import { type Envelope, messageJson } from './messages.ts';
import type { StreamEventName, StreamTransport } from './types.ts';

/** Nothing more is handed over while so much is unsent. */
const MOST_UNSENT_BYTES = 256 * 1024;

/** Writes the messages of one connection, and knows how its client keeps up. */
export class Outlet {
  readonly #transport: StreamTransport;
  readonly #now: () => number;
  #sentAt: number;
  #fullSince: number | null = null;
  /** The `seq` of the last message that the client was sent. */
  prevSeq: number | null = null;

  constructor(transport: StreamTransport, now: () => number) {
    this.#transport = transport;
    this.#now = now;
    this.#sentAt = now();
  }

  /** Whether the client must take some of what was sent before it is sent more. */
  get isFull(): boolean {
    const isFull = this.#transport.unsentBytes >= MOST_UNSENT_BYTES;
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
   * @param mayResume whether the client knows everything up to here: the message has an id then
   */
  send(event: StreamEventName, envelope: Envelope, fields: string, mayResume = false): void {
    const id = mayResume ? `${envelope.epoch}-${envelope.seq}` : '';
    this.#transport.send(event, id, messageJson(envelope, this.prevSeq, fields));
    this.prevSeq = envelope.seq;
    this.#sentAt = this.#now();
  }
}

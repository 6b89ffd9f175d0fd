import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { StreamEventName, StreamTransport } from './types.ts';

/** Nothing more is sent while so much is unsent. */
const MAX_UNSENT_BYTES = 256 * 1024;

/** Writes the messages of one connection, and knows how its client keeps up. */
export class MessageWriter {
  /** The id of the last message; empty when a connection cannot resume after it. */
  lastId = '';
  readonly #chainId: number;
  readonly #transport: StreamTransport;
  readonly #now: () => number;
  #sentAt: number;
  #fullSince: number | null = null;
  #count = 0;

  constructor(chainId: number, transport: StreamTransport, now: () => number) {
    this.#chainId = chainId;
    this.#transport = transport;
    this.#now = now;
    this.#sentAt = now();
  }

  /** Whether the client must take some of what was sent before it is sent more. */
  get isFull(): boolean {
    const isFull = this.#transport.unsentBytes >= MAX_UNSENT_BYTES;
    this.#fullSince = isFull ? (this.#fullSince ?? this.#now()) : null;
    return isFull;
  }

  /** For how long it has been full, in milliseconds. */
  get fullMs(): number {
    return this.isFull ? this.#now() - (this.#fullSince ?? this.#now()) : 0;
  }

  /** Since the last message, in milliseconds. */
  get idleMs(): number {
    return this.#now() - this.#sentAt;
  }

  /** @param fields more of the message, as JSON that begins with a comma, or nothing */
  send(event: StreamEventName, block: BlockRef, fields: string, id = ''): void {
    const prevSeq = this.#count === 0 ? null : this.#count;
    this.#count += 1;
    const head = `{"chainId":${this.#chainId},"seq":${this.#count},"prevSeq":${prevSeq}`;
    const at = `"blockNumber":${block.number},"blockHash":"${block.hash}","blockTimestamp":${block.timestamp}`;
    this.#transport.send(event, id, `${head},${at},"serverTs":${Math.floor(Date.now() / 1_000)}${fields}}`);
    this.lastId = id;
    this.#sentAt = this.#now();
  }
}

import { ReadyJson, writeObject } from '../../runtime/joined-json.ts';
import { MAX_UNSENT_BYTES } from '../sockets/connections.ts';
import type { StreamMessage } from './subscriber-state.ts';
import type { StreamTransport } from './types.ts';

/** Writes the messages of one connection. */
export class MessageWriter {
  #count = 0;

  constructor(
    private readonly chainId: number,
    private readonly transport: StreamTransport,
  ) {}

  /** Whether so much is unsent that the client must take some of it before it is sent more. */
  get isFull(): boolean {
    return this.transport.unsentBytes >= MAX_UNSENT_BYTES;
  }

  /** Sends a message: first the fields that every message has, then its own. */
  send({ event, block, fields, id }: StreamMessage): void {
    const prevSeq = this.#count === 0 ? null : this.#count;
    this.#count += 1;
    const message = writeObject({
      chainId: this.chainId,
      seq: this.#count,
      prevSeq,
      blockNumber: new ReadyJson(`${block.number}`),
      blockHash: block.hash,
      blockTimestamp: new ReadyJson(`${block.timestamp}`),
      serverTs: Math.floor(Date.now() / 1_000),
      ...fields,
    });
    this.transport.send(event, id, message);
  }
}

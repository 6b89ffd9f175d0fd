import type { BlockRef } from '../../chain/read-context.ts';
import { joinObjects, writeObject } from '../../runtime/joined-json.ts';
import { perObject } from '../../runtime/per-object.ts';
import { MAX_UNSENT_BYTES } from '../sockets/connections.ts';
import type { StreamMessage } from './subscriber-state.ts';
import type { StreamTransport } from './types.ts';

/** What messages say of their block, written once for all connections. */
const blockFields = perObject(
  ({ number, hash, timestamp }: BlockRef) =>
    `"blockNumber":${number},"blockHash":"${hash}","blockTimestamp":${timestamp}`,
);

/** Writes the messages of one connection. */
export class MessageWriter {
  readonly #chainId: number;
  readonly #transport: StreamTransport;
  #count = 0;

  constructor(chainId: number, transport: StreamTransport) {
    this.#chainId = chainId;
    this.#transport = transport;
  }

  /** Whether so much is unsent that the client must take some of it before it is sent more. */
  get isFull(): boolean {
    return this.#transport.unsentBytes >= MAX_UNSENT_BYTES;
  }

  /** Sends a message: first the fields that every message has, then its own. */
  send({ event, block, fields, id }: StreamMessage): void {
    const prevSeq = this.#count === 0 ? null : this.#count;
    this.#count += 1;
    const serverTs = Math.floor(Date.now() / 1_000);
    const common = `{"chainId":${this.#chainId},"seq":${this.#count},"prevSeq":${prevSeq},${blockFields(block)},"serverTs":${serverTs}}`;
    const own = writeObject(fields);
    this.#transport.send(event, id, own === '{}' ? common : joinObjects(common, own));
  }
}

import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import { ReadyJson, writeObject } from '../../runtime/joined-json.ts';
import { quoteFailure } from '../errors.ts';
import type { LatestQuote } from '../latest/latest-quotes.ts';
import { quoteJson } from '../quotes/quote-body.ts';
import { MAX_UNSENT_BYTES } from '../sockets/connections.ts';
import type { StreamEventName, StreamTransport } from './types.ts';

/** Most characters of one message. Only a single quote may take more. */
const PART_LENGTH = 60 * 1024;

/** Writes the messages of one connection. */
export class MessageWriter {
  /** The id of the last message; empty when a connection cannot resume after it. */
  lastId = '';
  #count = 0;

  constructor(
    private readonly chainId: number,
    private readonly transport: StreamTransport,
  ) {}

  /** Whether so much is unsent that the client must take some of it before it is sent more. */
  get isFull(): boolean {
    return this.transport.unsentBytes >= MAX_UNSENT_BYTES;
  }

  /** Sends a message: first the fields that every message has, then these. */
  send(event: StreamEventName, block: BlockRef, fields: MessageFields, id = ''): void {
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
    this.lastId = id;
  }
}

/** Fields of a message besides those that every message has. */
export type MessageFields = Readonly<Record<string, unknown>>;

/** The last quote of a pool that a connection was sent. */
export interface SentQuote {
  /** Version of that quote. Null if none was sent, so that the first one is sent in a `snapshot`. */
  version: number | null;
  /** Number of the block of the message with that quote. */
  sentAt: bigint;
}

/** A pool to be sent. A pool without a quote is not served. */
export interface PoolToSend {
  readonly pool: Address;
  readonly sent?: SentQuote;
  readonly quote?: LatestQuote;
}

/**
 * Divides pools into parts of bounded length, each pool with its quote or why it has none. A quote's text is made once
 * for all connections.
 */
export function* messageParts(pools: readonly PoolToSend[]) {
  let part = { pools: [] as PoolToSend[], quotes: [] as string[], errors: [] as string[] };
  let length = 0;
  for (const each of pools) {
    const outcome = each.quote?.outcome;
    const isQuote = outcome !== undefined && !(outcome instanceof SnapshotError);
    const text = isQuote ? quoteJson(outcome) : errorJson(each.pool, outcome);
    if (length > 0 && length + text.length > PART_LENGTH) {
      yield { ...part, isLast: false };
      part = { pools: [], quotes: [], errors: [] };
      length = 0;
    }
    length += text.length;
    part.pools.push(each);
    (isQuote ? part.quotes : part.errors).push(text);
  }
  if (length > 0) yield { ...part, isLast: true };
}

function errorJson(poolAddress: Address, error: SnapshotError | undefined): string {
  const { status, message } = quoteFailure(poolAddress, error);
  return JSON.stringify({ poolAddress, status, error: message });
}

import type { ChainStream } from '../../api/stream/chain-stream.ts';
import type { Subscriber } from '../../api/stream/subscriber.ts';
import type { StreamTransport } from '../../api/stream/types.ts';
import { HeldQuotes } from '../../client/stream/held-quotes.ts';
import type { StreamMessage } from '../../client/stream/types.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { Book, type Received } from './book.ts';

/** Each message counts as this much: few fill a connection. */
const MESSAGE_BYTES = 90 * 1024;

export interface Wish {
  readonly pools: readonly ServedPool[] | 'all';
  readonly depth: boolean;
  readonly hasKey: boolean;
}

/** A client with a connection that may be slow, be terminated, and be reopened. */
export class SimulatedClient {
  readonly wish: Wish;
  book = new Book();
  /** The same of the client that integrators use. */
  readonly held: HeldQuotes;
  isSlow = false;
  /** A message that it could not take. */
  fault: unknown;
  /** The hash of the block that the book is of. */
  hash: string | null = null;
  /** The block of the last message of the connection. */
  #messageHash: string | null = null;
  #first = 0;
  /** Blocks of messages that followed each other while it held quotes, without a `reorg` between them. */
  readonly steps: { readonly before: string; readonly after: string }[] = [];
  /** What each `reorg` said, the blocks of the message before and of itself, and the first since it held nothing. */
  readonly reorgs: {
    readonly from: number;
    readonly before: string;
    readonly after: string;
    readonly first: number;
  }[] = [];
  #subscriber: Subscriber | undefined;
  #unsent: Received[] = [];
  #onDrain: () => void = () => undefined;

  /** @param all pools that are meant by 'all' */
  constructor(wish: Wish, all: readonly ServedPool[] = []) {
    this.wish = wish;
    const pools = wish.pools === 'all' ? all : wish.pools;
    this.held = new HeldQuotes(
      pools.map(({ address }) => address),
      () => () => 0,
    );
  }

  get isOpen(): boolean {
    return this.#subscriber !== undefined;
  }

  async connect(stream: ChainStream): Promise<void> {
    this.book.reconnect();
    this.held.connect('sse');
    this.hash = null;
    this.#messageHash = null;
    this.#unsent = [];
    const { pools, depth, hasKey } = this.wish;
    const after = this.book.lastId;
    await stream.ready();
    const subscriber = stream.open(this.#transport(), hasKey);
    this.#subscriber = subscriber;
    subscriber.subscribe({ pools: pools === 'all' ? pools : pools.map(({ address }) => address), depth, after });
  }

  /** The connection breaks: what was not delivered is lost. */
  cut(): void {
    this.#subscriber?.disconnected();
    this.#subscriber = undefined;
    this.#unsent = [];
    this.hash = null;
    this.book.reconnect();
    this.held.disconnect('cut');
  }

  /** Reads again. */
  drain(): void {
    this.isSlow = false;
    for (const sentBefore of this.#unsent.splice(0)) this.#take(sentBefore);
    this.#onDrain();
  }

  #transport(): StreamTransport {
    const client = this;
    return {
      send: (event, id, data) => {
        const sentBefore = { event, id, data: JSON.parse(data) };
        if (client.isSlow) client.#unsent.push(sentBefore);
        else client.#take(sentBefore);
      },
      get unsentBytes() {
        return client.#unsent.length * MESSAGE_BYTES;
      },
      onDrain: (listener) => {
        client.#onDrain = listener;
      },
      end: () => client.cut(),
      terminate: () => client.cut(),
    };
  }

  #take(sentBefore: Received): void {
    const holdsQuotes = this.book.quotes.size > 0;
    try {
      this.book.take(sentBefore);
      this.held.take({ ...(sentBefore.data as StreamMessage), event: sentBefore.event, id: sentBefore.id });
    } catch (error) {
      this.fault ??= error;
    }
    const { blockHash, blockNumber, fromBlock } = sentBefore.data as StreamMessage & { fromBlock?: number };
    const before = this.#messageHash;
    if (!before || sentBefore.event === 'gap') this.#first = blockNumber;
    if (before && fromBlock !== undefined)
      this.reorgs.push({ from: fromBlock, before, after: blockHash, first: this.#first });
    // After a gap it holds nothing: what was replaced before does not concern it.
    else if (before && holdsQuotes && sentBefore.event !== 'gap') this.steps.push({ before, after: blockHash });
    this.#messageHash = blockHash;
    this.hash = this.book.block === null ? null : blockHash;
  }
}

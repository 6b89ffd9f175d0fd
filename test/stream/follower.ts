import type { StreamEventName } from '../../api/stream/types.ts';
import { Book } from './book.ts';
import type { Connect, StreamConnection, StreamRequest } from './stream-connection.ts';

export interface FollowerPlan extends Omit<StreamRequest, 'after'> {
  readonly connect: Connect;
  readonly url: string;
}

/** The quotes, by pool, that a client took for those of a block. */
export interface Claim {
  readonly block: number;
  readonly hash: string;
  readonly quotes: readonly (readonly [pool: string, quote: object])[];
}

const RETRY_MS = 250;
/** Without a message for so long a connection is taken for dead: heartbeats come every 15 s. */
const MAX_QUIET_MS = 30_000;

/** A client that does what docs/use/stream.md says, and nothing more clever. */
export class Follower {
  readonly plan: FollowerPlan;
  readonly claims: Claim[] = [];
  /** Messages that were lost, or are not as they should be. */
  readonly faults: string[] = [];
  reconnects = 0;
  readonly #book = new Book();
  #connection: StreamConnection | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(plan: FollowerPlan) {
    this.plan = plan;
    this.#open();
  }

  /** The newest block for which it held quotes of all its pools; 0 before. */
  get completeAt(): number {
    return this.claims.findLast(({ quotes }) => quotes.length === this.plan.pools.length)?.block ?? 0;
  }

  /** Leaves, and comes back at once. */
  reopen(): void {
    this.#openAgain(0);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#connection?.close();
  }

  #open(): void {
    const { connect, url, ...wanted } = this.plan;
    this.#book.reconnect();
    this.#watch();
    const after = this.#book.lastId;
    this.#connection = connect(
      url,
      { ...wanted, ...(after !== undefined && { after }) },
      {
        message: (event, id, text) => this.#take(event as StreamEventName, id, text),
        ended: () => this.#openAgain(RETRY_MS),
      },
    );
  }

  #openAgain(waitMs: number): void {
    this.reconnects += 1;
    this.stop();
    this.#timer = setTimeout(() => this.#open(), waitMs);
  }

  #watch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#openAgain(0), MAX_QUIET_MS);
  }

  #take(event: StreamEventName, id: string, text: string): void {
    this.#watch();
    const { event: _event, id: _id, ...data } = JSON.parse(text) as Record<string, unknown>;
    try {
      this.#book.take({ event, id, data });
    } catch (error) {
      this.faults.push(String(error));
    }
    const { block, quotes } = this.#book;
    if (block !== null) {
      const held = [...quotes].map(([pool, { quote }]) => [pool, quote] as const);
      this.claims.push({ block, hash: String(data.blockHash), quotes: held });
    }
    if (event === 'bye') this.#openAgain(Number(data.retryMs));
  }
}

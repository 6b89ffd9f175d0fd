import type { Block, PoolFailure, Quote, Stale, StreamMessage, StreamState, TransportName } from './types.ts';

/** Messages were lost, so it is not known whether the held quotes are current. */
export class LostMessagesError extends Error {
  override readonly name = 'LostMessagesError';
}

/**
 * The quotes that result from the messages of a stream. Invariant: while there is a block, every held quote is of that
 * block, and no later message has withdrawn it.
 */
export class HeldQuotes {
  transport: TransportName = 'websocket';
  /** Lets the next connection resume after the last message. When empty, that connection begins from scratch. */
  resumeId = '';
  readonly #pools: readonly string[];
  readonly #quotes = new Map<string, { readonly quote: Quote; readonly block: number }>();
  readonly #failures = new Map<string, Stale>();
  #block: Block | null = null;
  /** Time of the newest complete block, Unix seconds. */
  #confirmedAt = 0;
  #seq: number | null = null;
  #reason = 'Not connected';
  /** Time since the present state was last confirmed. A state that is replaced keeps its last confirmation. */
  #confirmation: { ageMs: () => number };
  /** Starts to measure a time, milliseconds. */
  readonly startWatch: () => () => number;

  /**
   * @param pools addresses in lower case
   * @param startWatch starts to measure a time, milliseconds
   */
  constructor(pools: readonly string[], startWatch: () => () => number) {
    this.#pools = pools;
    this.startWatch = startWatch;
    this.#confirmation = { ageMs: startWatch() };
  }

  /** Notes that a connection begins. It resumes after the last message, or begins from scratch. */
  connect(transport: TransportName): void {
    this.transport = transport;
    this.#seq = null;
    if (!this.resumeId) this.#forget();
  }

  /** Notes that a connection ended, so that no quote is known to be current any more. */
  disconnect(reason: string): void {
    this.#confirmation = { ...this.#confirmation };
    this.#block = null;
    this.#reason = reason;
  }

  /** Notes that the service answered, and had sent all that it had to send. */
  confirm(): void {
    this.#confirmation.ageMs = this.startWatch();
  }

  /** Applies a message. @throws LostMessagesError when the message does not follow the last one */
  take(message: StreamMessage): void {
    const { event, id = '', seq, prevSeq, blockNumber, blockHash, blockTimestamp, fromBlock, last } = message;
    if (prevSeq !== this.#seq) {
      this.resumeId = '';
      this.#forget();
      throw new LostMessagesError(`Message ${prevSeq} is missing: the last one was ${this.#seq}`);
    }
    this.#confirmation = { ageMs: this.startWatch() };
    this.#seq = seq;
    this.resumeId = id;
    if (event === 'gap') this.#forget();
    for (const [pool, { block }] of this.#quotes)
      if (fromBlock !== undefined && block >= fromBlock) this.#quotes.delete(pool);
    for (const pool of message.pools ?? []) this.#fail(pool);
    for (const pool of message.errors ?? []) this.#fail(pool);
    for (const quote of message.quotes ?? []) this.#put(quote.poolAddress, quote, blockNumber);
    this.#confirmedAt = blockTimestamp;
    this.#block =
      event === 'heartbeat' || last ? { number: blockNumber, hash: blockHash, timestamp: blockTimestamp } : null;
    this.#reason = event === 'bye' ? `The service ended the stream: ${message.reason}` : 'The block is not complete';
  }

  /** Replaces all that is held by the results of batch requests. @param ageMs gives the time since they were sent */
  replace(
    block: Block | null,
    quotes: readonly (readonly [string, Quote])[],
    failures: readonly PoolFailure[],
    ageMs: () => number,
  ): void {
    this.#confirmation = { ageMs };
    this.resumeId = '';
    this.#forget();
    for (const [pool, quote] of quotes) this.#put(pool, quote, block?.number ?? 0);
    for (const failure of failures) this.#fail(failure);
    this.#confirmedAt = 0;
    this.#block = block;
    this.#reason = 'No pool could be read';
  }

  /** Gives the quotes that may be used now. */
  state(): StreamState {
    const [block, confirmation, { transport }] = [this.#block, this.#confirmation, this];
    const quotes = new Map<string, Quote>();
    const stale = new Map<string, Stale>();
    for (const pool of this.#pools) {
      const held = this.#quotes.get(pool);
      if (block && held) quotes.set(pool, this.#confirmed(held.quote));
      else stale.set(pool, this.#failures.get(pool) ?? { status: null, error: block ? 'Not read yet' : this.#reason });
    }
    return { block, quotes, stale, transport, ageMs: () => confirmation.ageMs() };
  }

  /** Dates a quote by the newest block, which also confirms quotes that did not change. */
  #confirmed(quote: Quote): Quote {
    return quote.serverTs < this.#confirmedAt ? { ...quote, serverTs: this.#confirmedAt } : quote;
  }

  #put(pool: string, quote: Quote, block: number): void {
    this.#quotes.set(pool, { quote, block });
    this.#failures.delete(pool);
  }

  #fail({
    poolAddress,
    status = 404,
    error = 'Not served',
    reason = error,
  }: NonNullable<StreamMessage['pools']>[number]) {
    this.#quotes.delete(poolAddress);
    this.#failures.set(poolAddress, { status, error: reason });
  }

  #forget(): void {
    this.#quotes.clear();
    this.#failures.clear();
    this.#block = null;
  }
}

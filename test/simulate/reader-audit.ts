import type { StreamState } from '../../client/stream/types.ts';
import type { Faults } from './faults.ts';
import type { Findings } from './findings.ts';
import { indexOf } from './pool-reader.ts';
import { type PriceAudit, REACH_MS, SAID_MS, SILENCE_MS } from './price-audit.ts';
import type { StreamReader } from './stream-reader.ts';
import { FIRST_LIVE_PRICE, type VirtualBlock } from './virtual-chain.ts';
import type { World } from './world.ts';

/** A reader without a connection asks for batches this often. */
const BATCH_MS = 2_500;

/** For this long after a reorganisation the block may go back. */
const REORGANISED_MS = 3_000;

interface Position {
  readonly connection: number;
  readonly at: number;
  readonly block: NonNullable<StreamState['block']>;
}

/** Compares what readers of streams hold with what is true. */
export class ReaderAudit {
  readonly #world: World;
  readonly #faults: Faults;
  readonly #findings: Findings;
  readonly #prices: PriceAudit;
  readonly #positions = new Map<StreamReader, Position>();
  /** The heads of the last while, and when each came. */
  readonly #heads: { readonly at: number; readonly block: VirtualBlock }[] = [];

  constructor(world: World, faults: Faults, findings: Findings, prices: PriceAudit) {
    this.#world = world;
    this.#faults = faults;
    this.#findings = findings;
    this.#prices = prices;
  }

  /** A reader holds something else than before. */
  take(reader: StreamReader): void {
    const { state, connections, options } = reader;
    if (!state) return;
    const [findings, world] = [this.#findings, this.#world];
    findings.counts.states += 1;
    const { block, quotes, transport } = state;
    findings.note(`${options.name} ${block?.number} ${[...quotes.values()].map(({ bidAdj }) => bidAdj).join()}`);
    // Quotes of a batch may be of several blocks.
    if (!block || transport === 'batch') return;
    const before = this.#positions.get(reader);
    const { now } = world.time;
    const isBack = before && block.number < before.block.number && world.chain.has(before.block.hash);
    if (isBack && now - world.reorganisedAt > REORGANISED_MS) {
      // Another process knows of the block while Redis passes messages on, and nodes keep up.
      const isSure = before.connection === connections || this.#faults.isCalmFor(now - before.at);
      if (isSure) findings.found('goes back', `${options.name} from ${before.block.number} to ${block.number}`);
    }
    this.#positions.set(reader, { connection: connections, at: now, block });
    const of = world.chain.byHash.get(block.hash as `0x${string}`);
    for (const [pool, { bidAdj }] of quotes) {
      const [price, index] = [BigInt(bidAdj), indexOf(pool)];
      if (price < FIRST_LIVE_PRICE && of?.prices[index] !== price)
        findings.found('not of the block', `${options.name} holds ${price} of pool ${index} at block ${block.number}`);
    }
    this.#checkHeld(reader);
    this.#checkTurns(reader);
  }

  /** To be called a few times a second. */
  check(): void {
    const world = this.#world;
    const { head } = world.chain;
    const { now } = world.time;
    if (this.#heads.at(-1)?.block !== head) this.#heads.push({ at: now, block: head });
    while ((this.#heads[1]?.at ?? Number.POSITIVE_INFINITY) < now - REACH_MS - 500) this.#heads.shift();
    for (const reader of world.readers) {
      this.#checkHeld(reader);
      this.#checkCurrent(reader);
      this.#checkTurns(reader);
    }
  }

  /** Whether nothing keeps a reader from what others have: the silence of one source costs no price of another. */
  #isCalm({ troubledUntil, isAway }: StreamReader): boolean {
    return !isAway && this.#faults.isCalmFor(0, ['silence']) && this.#world.time.now > troubledUntil;
  }

  /** No price is held long after it was withdrawn. */
  #checkHeld({ state, options, troubledUntil }: StreamReader): void {
    if (!state?.block) return;
    const isTroubled = this.#world.time.now < troubledUntil;
    const extraMs = (state.transport === 'batch' ? BATCH_MS : 0) + (isTroubled ? SILENCE_MS : 0);
    for (const [pool, { bidAdj }] of state.quotes)
      this.#prices.check(options.name, indexOf(pool), BigInt(bidAdj), extraMs);
  }

  /** Once nothing goes wrong, all is current. */
  #checkCurrent(reader: StreamReader): void {
    const { state, options, server } = reader;
    const why = this.#isCalm(reader) ? this.#whyNotCurrent(reader) : undefined;
    const lateMs = this.#findings.lastsMs(options.name, why !== undefined);
    // Who tries streams again may have asked for the last batch just before a block.
    const streamsMs = this.#findings.lastsMs(`${options.name} follows a stream`, state?.transport !== 'batch');
    if (lateMs > REACH_MS + (streamsMs < BATCH_MS ? BATCH_MS : 0))
      this.#findings.found('not current', `${options.name} (${state?.transport}, ${server?.name}) ${why}`);
  }

  /** With few calls, each pool has its turn, maybe until the next block alone. */
  #checkTurns(reader: StreamReader): void {
    if (this.#prices.hasEnoughCalls) return;
    const { state, options } = reader;
    const isDue = this.#isCalm(reader) && this.#world.isHeadUsable === true;
    for (const pool of options.pools) {
      const what = `${options.name} has no quote of pool ${indexOf(pool)}`;
      if (this.#findings.lastsMs(what, isDue && !state?.quotes.has(pool)) > this.#prices.turnMs)
        this.#findings.found('starves', what);
    }
  }

  /** Why what a reader holds is not as it is to be; undefined if it is. */
  #whyNotCurrent(reader: StreamReader): string | undefined {
    const { isHeadUsable } = this.#world;
    const { block, quotes } = reader.state ?? {};
    if (isHeadUsable === false)
      return block && quotes?.size ? `holds quotes of block ${block.number}, which is too old` : undefined;
    return isHeadUsable && this.#prices.hasEnoughCalls ? this.#whyLate(reader) : undefined;
  }

  /** Why what a reader holds is not current; undefined if it is. */
  #whyLate({ state, options: { pools, basis } }: StreamReader): string | undefined {
    const { plan, truth, time } = this.#world;
    const due = this.#heads[0]?.block;
    if (!state?.block) return `holds no block: ${[...(state?.stale.values() ?? [])].map(({ error }) => error).join()}`;
    if (due && state.block.number < Number(due.number)) return `is at block ${state.block.number}, not ${due.number}`;
    for (const address of pools) {
      const pool = indexOf(address);
      const quote = state.quotes.get(address);
      if (!quote) return `has no quote of pool ${pool}`;
      // Who becomes the reader of published updates does not know earlier ones;
      // a block that is new has no overrides yet.
      if (basis !== 'live' || pool === plan.pools - 1 || this.#heads.length > 1) continue;
      const isSaid = truth
        .since(pool, time.now)
        .some(({ from, saidAt }) => from < time.now - REACH_MS && saidAt > time.now - SAID_MS);
      if (isSaid && BigInt(quote.bidAdj) < FIRST_LIVE_PRICE) return `has no live price of pool ${pool}`;
    }
    return undefined;
  }
}

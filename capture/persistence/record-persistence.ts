import type { Address } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import type { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { createQuoteReader, type ReadQuote } from '../quote-reader.ts';
import type { Sample } from './compare-quotes.ts';
import { type ComparedPool, type ComparedPoolsDeps, readComparedPools } from './compared-pools.ts';
import { type LiveWindow, type LiveWindowDeps, readLiveWindow } from './live-window.ts';
import { nextWindow, noWindow, type OpenWindow, type WindowEvent, type WindowState } from './next-window.ts';
import { type QuotesRead, readQuotes } from './read-quotes.ts';
import { sampleOf, type WindowReads } from './window-samples.ts';

export interface PersistenceDeps extends ComparedPoolsDeps, LiveWindowDeps {
  readonly chain: ChainConfig;
  readonly rpc: ChainRpc;
  /** Without calls that price reads do not need soon, a window waits, or is not opened. */
  readonly budget: Pick<CallBudget, 'hasSpare' | 'reserveSpare'>;
  /** A random number from 0 to 1, without 1. */
  readonly draw: () => number;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
  readonly logger: Logger;
}

/** What a window compares: the quotes of a block. */
interface Shown {
  readonly block: BlockHeader;
  readonly pools: readonly ComparedPool[];
  readonly live: LiveWindow;
}

const DAY = 86_400;
/** Blocks after the first one that are compared with it. */
const LATER_BLOCKS = [1n, 2n, 5n] as const;
/** Pools that are read together. */
const POOLS_PER_READ = 50;

const insertPersistence = loadStatement('./insert-persistence.sql', import.meta.url);

/**
 * Records what became of quotes of the most valuable pools that trade, by windows of blocks ({@link nextWindow}). The
 * blocks of a window are read once it is over, each once for all amounts: a batch of pools at one block in each run.
 *
 * A window takes one call for its first block and one for each look at the head, one for each later block, and for each
 * batch and block what a read of depth takes.
 */
export class PersistenceRecorder {
  readonly #deps: PersistenceDeps;
  readonly #readQuote: ReadQuote;
  #state: WindowState<Shown> = noWindow;
  /** Windows that are over, the first of which is being read. */
  #over: AsyncGenerator<void, void>[] = [];

  constructor(deps: PersistenceDeps) {
    this.#deps = deps;
    this.#readQuote = createQuoteReader(deps);
  }

  /** Does what is due. @throws RpcFailure or an error of Postgres: the window in work is given up */
  async run(): Promise<void> {
    const { rpc, draw, budget } = this.#deps;
    const { open, look } = this.#next({ kind: 'time', draw: draw() });
    if (open && this.#reserve()) await this.#open();
    if (look && this.#reserve()) {
      const { close } = this.#next({ kind: 'head', number: (await rpc.head()).block.number });
      // One that was not begun before the next one is over is given up: there are too few calls for all.
      if (close.length > 0)
        this.#over = [...this.#over.slice(0, 1), ...close.slice(-1).map((window) => this.#read(window))];
    }
    const [reading] = this.#over;
    if (!reading || !budget.hasSpare('funded')) return;
    // A generator that throws is done.
    const { done } = await reading.next().catch((error: unknown) => {
      this.#over.shift();
      throw error;
    });
    if (done) this.#over.shift();
  }

  readonly #reserve = () => this.#deps.budget.reserveSpare('funded');

  #next(event: WindowEvent<Shown>) {
    const { chain, wallClock } = this.#deps;
    const [state, effects] = nextWindow(this.#state, event, wallClock(), chain.blockTimeMs);
    this.#state = state;
    return effects;
  }

  async #open(): Promise<void> {
    const pools = await readComparedPools(this.#deps);
    if (pools.length === 0) return;
    const { block } = await this.#deps.rpc.head();
    const live = await readLiveWindow(
      this.#deps,
      pools.map(({ pool }) => pool),
    );
    this.#next({ kind: 'opened', number: block.number, content: { block, pools, live } });
  }

  /** Reads a window that is over, a step at a time, and stores its samples. */
  async *#read({ number, content }: OpenWindow<Shown>): AsyncGenerator<void, void> {
    const { rpc } = this.#deps;
    const blocks: BlockHeader[] = [content.block];
    for (const after of LATER_BLOCKS) {
      if (!this.#reserve()) return;
      blocks.push(await rpc.blockAt(number + after));
    }
    for (let from = 0; from < content.pools.length; from += POOLS_PER_READ) {
      const pools = content.pools.slice(from, from + POOLS_PER_READ);
      const reads: QuotesRead[] = [];
      for (const block of blocks) {
        yield;
        const served = pools.map(({ pool }) => pool);
        reads.push(await readQuotes(this.#readQuote, { block, endpoint: null, reserve: this.#reserve }, served));
      }
      await this.#store(pools, { blocks, reads, live: content.live });
    }
  }

  async #store(pools: readonly ComparedPool[], window: WindowReads): Promise<void> {
    const [block] = window.blocks;
    const rows = pools.flatMap(({ pool: { address }, inputs }) => {
      const sample = sampleOf(address, window, inputs);
      return sample ? [rowOf(address, sample)] : [];
    });
    if (rows.length === 0 || !block) return;
    const { database, chain, kept } = this.#deps;
    const keepFrom = Number(block.timestamp) - kept.quoteMinuteDays * DAY;
    await database.query('SELECT history.keep_partitions($1, $2, $3)', [
      'persistence_minute',
      block.timestamp,
      keepFrom,
    ]);
    await insertPersistence(database, [chain.chainId, block.timestamp, block.number, JSON.stringify(rows)]);
  }
}

const rowOf = (pool: Address, { bids, asks }: Sample) => ({
  pool,
  bids: bids.changesE6,
  asks: asks.changesE6,
  bidGone: bids.goneE6,
  askGone: asks.goneE6,
});

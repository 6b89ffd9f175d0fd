import { startRepeating } from '../../runtime/repeat.ts';
import { TICK_MS } from './block-readers.ts';
import type { ChainReads } from './chain-reads.ts';

/** Lets the shared reads of a chain tick while they have something to do. A process that nobody asks does not tick. */
export class NeededTicks {
  readonly #reads: Pick<ChainReads, 'tick' | 'isIdle'>;
  #end: (() => void) | undefined;
  #isStopped = false;

  constructor(reads: Pick<ChainReads, 'tick' | 'isIdle'>) {
    this.#reads = reads;
  }

  /** To be called when a client requests a pool, and when a message comes. */
  start(): void {
    if (!this.#isStopped) this.#end ??= startRepeating(() => this.#tick(), TICK_MS, false);
  }

  /** Ends them for good. */
  stop(): void {
    this.#isStopped = true;
    this.#end?.();
  }

  async #tick(): Promise<void> {
    await this.#reads.tick();
    if (!this.#reads.isIdle) return;
    this.#end?.();
    this.#end = undefined;
  }
}

import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Mines blocks, each about a block time after the last one, or at another pace for a while. */
export class Miner {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #usualMs: number;
  readonly #mine: () => void;
  #blockMs: number | null;
  #cancel: () => void = () => undefined;

  /** Mines the first block a block time from now. */
  constructor(time: VirtualTime, random: Random, blockMs: number, mine: () => void) {
    this.#time = time;
    this.#random = random;
    this.#usualMs = blockMs;
    this.#blockMs = blockMs;
    this.#mine = mine;
    this.#mineLater();
  }

  /** @param blockMs about how long each block takes from now on; null: the chain halts. Default: the block time */
  setPace(blockMs: number | null = this.#usualMs): void {
    this.#blockMs = blockMs;
    this.#mineLater();
  }

  #mineLater(): void {
    this.#cancel();
    const ms = this.#blockMs;
    if (ms === null) return;
    const mine = () => {
      this.#mine();
      this.#mineLater();
    };
    this.#cancel = this.#time.after(this.#random.int(Math.round(ms * 0.9), Math.round(ms * 1.1)), mine);
  }
}

import type { BlockRef } from '../../chain/chain-rpc.ts';

/** Places that only some pools get at one block. */
export class BlockBudget {
  readonly #places: number;
  #block: string | undefined;
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** @returns false when all places at this block are taken */
  take({ hash }: BlockRef): boolean {
    if (this.#block !== hash) {
      this.#block = hash;
      this.#taken = 0;
    }
    if (this.#taken >= this.#places) return false;
    this.#taken += 1;
    return true;
  }
}

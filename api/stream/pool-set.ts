import type { Address } from 'viem';
import type { QuoteKind } from '../warming/requested-pools.ts';

/** Sums stay exact in a number. */
const MODULUS = 2 ** 52;

/** Names a set of pools with their kinds of quotes, the same in any order; different sets share a name by accident alone. */
export class PoolSet {
  #sum = 0;

  add(pool: Address, kind: QuoteKind): void {
    this.#sum = (this.#sum + numberOf(pool, kind)) % MODULUS;
  }

  delete(pool: Address, kind: QuoteKind): void {
    this.#sum = (this.#sum + MODULUS - numberOf(pool, kind)) % MODULUS;
  }

  get name(): string {
    return this.#sum.toString(36);
  }
}

/** The name of a set of pools of one kind of quotes. */
export function setOf(pools: readonly Address[], kind: QuoteKind): string {
  const set = new PoolSet();
  for (const pool of pools) set.add(pool, kind);
  return set.name;
}

/** Names every listed pool of a chain, whichever they are. */
export const allOf = (kind: QuoteKind): string => `all${kind}`;

const numberOf = (pool: Address, kind: QuoteKind): number =>
  2 * Number.parseInt(pool.slice(-12), 16) + (kind === 'depths' ? 1 : 0);

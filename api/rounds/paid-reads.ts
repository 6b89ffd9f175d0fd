import type { ServedPool } from '../snapshots/pool-directory.ts';
import { CallPacking } from './call-packing.ts';
import { type KnownRank, type ReadCost, readCost } from './read-cost.ts';
import { TIERS, type Tier, type TieredBudget } from './tiered-budget.ts';
import { type QuoteKind, wantKey } from './wanted-pools.ts';

/** What is wanted of a pool at a block. */
export interface WantedRead {
  readonly pool: ServedPool;
  readonly kind: QuoteKind;
  readonly byKey: boolean;
  /** Whether it is read at this block already. */
  readonly isRead: boolean;
}

export interface PaidReadsDeps {
  readonly budget: Pick<TieredBudget, 'take'>;
  readonly hasWorth: (pool: ServedPool) => boolean;
  readonly rankOf: (pool: ServedPool) => KnownRank;
}

interface Turn {
  /** In which it was read last, or since which it is wanted. */
  readonly since: number;
  readonly wasRead: boolean;
}

/**
 * Decides which reads of a block the budget pays for: those that keys want first, then those of funded pools, then all others;
 * within a tier the one that was read longest ago comes first. A read that a tier cannot pay for yet is waited for: those
 * behind it in the tier are not read before it.
 */
export class PaidReads {
  readonly #deps: PaidReadsDeps;
  /** Of each read that is wanted. */
  #turns = new Map<string, Turn>();
  #turn = 0;

  constructor(deps: PaidReadsDeps) {
    this.#deps = deps;
  }

  /**
   * Pays.
   *
   * @param wanted all that is wanted of the chain: the turns of anything else are forgotten
   * @returns keys of the reads that may be made now
   */
  pay(wanted: readonly WantedRead[]): ReadonlySet<string> {
    this.#turn += 1;
    const before = this.#turns;
    const first = { since: this.#turn, wasRead: false };
    const read = { since: this.#turn, wasRead: true };
    this.#turns = new Map(wanted.map((want) => [keyOf(want), before.get(keyOf(want)) ?? first]));
    const byTier: Record<Tier, WantedRead[]> = { keyed: [], funded: [], others: [] };
    for (const want of wanted) {
      if (want.isRead) this.#turns.set(keyOf(want), read);
      else byTier[this.#tierOf(want)].push(want);
    }
    const packing = new CallPacking();
    const paid = TIERS.flatMap((tier) => this.#payTier(tier, byTier[tier], packing));
    for (const key of paid) this.#turns.set(key, read);
    return new Set(paid);
  }

  #payTier(tier: Tier, reads: readonly WantedRead[], packing: CallPacking): string[] {
    const since = (read: WantedRead) => this.#turns.get(keyOf(read))?.since ?? 0;
    const paid: string[] = [];
    for (const read of [...reads].sort((a, b) => since(a) - since(b))) {
      const { pool } = read;
      const cost = this.#costOf(read);
      if (!this.#deps.budget.take(tier, packing.extra(pool.address, cost))) break;
      packing.add(pool.address, cost);
      paid.push(keyOf(read));
    }
    return paid;
  }

  /** A pool that was read and whose curve was not searched, as while it is paused, takes no swaps. */
  #costOf(read: WantedRead): ReadCost {
    const rank = this.#deps.rankOf(read.pool);
    const wasRead = this.#turns.get(keyOf(read))?.wasRead === true;
    return readCost(read.pool, read.kind === 'depths', wasRead ? (rank ?? 'formula') : rank);
  }

  #tierOf({ pool, byKey }: WantedRead): Tier {
    if (byKey) return 'keyed';
    return this.#deps.hasWorth(pool) ? 'funded' : 'others';
  }
}

const keyOf = ({ pool: { address }, kind }: WantedRead): string => wantKey({ address, kind });

import type { ServedPool } from '../snapshots/pool-directory.ts';
import { CallPacking } from './call-packing.ts';
import { type KnownRank, readCost } from './read-cost.ts';
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

/**
 * Decides which reads of a block the budget pays for: those that keys want first, then those of funded pools, then all others;
 * within a tier the one that was read longest ago comes first. A read that a tier cannot pay for yet is waited for: those
 * behind it in the tier are not read before it.
 */
export class PaidReads {
  readonly #deps: PaidReadsDeps;
  /** Of each read that is wanted, the turn in which it was read last, or since which it is wanted. */
  #since = new Map<string, number>();
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
    const before = this.#since;
    this.#since = new Map(wanted.map((read) => [keyOf(read), before.get(keyOf(read)) ?? this.#turn]));
    const byTier: Record<Tier, WantedRead[]> = { keyed: [], funded: [], others: [] };
    for (const read of wanted) {
      if (read.isRead) this.#since.set(keyOf(read), this.#turn);
      else byTier[this.#tierOf(read)].push(read);
    }
    const packing = new CallPacking();
    const paid = TIERS.flatMap((tier) => this.#payTier(tier, byTier[tier], packing));
    for (const key of paid) this.#since.set(key, this.#turn);
    return new Set(paid);
  }

  #payTier(tier: Tier, reads: readonly WantedRead[], packing: CallPacking): string[] {
    const since = (read: WantedRead) => this.#since.get(keyOf(read)) ?? 0;
    const paid: string[] = [];
    for (const read of [...reads].sort((a, b) => since(a) - since(b))) {
      const { pool, kind } = read;
      const cost = readCost(pool, kind === 'depths', this.#deps.rankOf(pool));
      if (!this.#deps.budget.take(tier, packing.extra(pool.address, cost))) break;
      packing.add(pool.address, cost);
      paid.push(keyOf(read));
    }
    return paid;
  }

  #tierOf({ pool, byKey }: WantedRead): Tier {
    if (byKey) return 'keyed';
    return this.#deps.hasWorth(pool) ? 'funded' : 'others';
  }
}

const keyOf = ({ pool: { address }, kind }: WantedRead): string => wantKey({ address, kind });

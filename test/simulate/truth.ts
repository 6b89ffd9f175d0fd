/** A live price, and when it was true. Each price is said once, for one pool. */
export interface Claim {
  readonly price: bigint;
  readonly pool: number;
  readonly from: number;
  /** When its source said it last. */
  saidAt: number;
  /** When it was replaced or cancelled; null while it holds. */
  until: number | null;
  /** The last block that it is good for; null: any. */
  readonly untilBlock: bigint | null;
}

/** What is true of live prices at each moment: what makers and sources said, whatever any process knows of it. */
export class Truth {
  readonly #claims = new Map<bigint, Claim>();
  readonly #current = new Map<number, Set<Claim>>();

  say(price: bigint, pool: number, now: number, untilBlock: bigint | null = null): void {
    const known = this.#claims.get(price);
    if (known) {
      known.saidAt = now;
      return;
    }
    const claim: Claim = { price, pool, from: now, saidAt: now, until: null, untilBlock };
    this.#claims.set(price, claim);
    this.#of(pool).add(claim);
  }

  withdraw(price: bigint, now: number): void {
    const claim = this.#claims.get(price);
    if (!claim || claim.until !== null) return;
    claim.until = now;
  }

  /** Notes that a block landed: what was good for it and earlier ones alone is over. */
  landed(number: bigint, now: number): void {
    for (const claims of this.#current.values())
      for (const claim of claims) if (claim.untilBlock !== null && claim.untilBlock <= number) claim.until ??= now;
  }

  /** What was said of a price; undefined for one that no source sent. */
  find(price: bigint): Claim | undefined {
    return this.#claims.get(price);
  }

  /** The claims of a pool that held at some time since. */
  since(pool: number, since: number): readonly Claim[] {
    const claims = this.#of(pool);
    return [...claims].filter(({ until }) => until === null || until >= since);
  }

  /** Forgets which claims ended long ago, though not what they were. */
  forget(before: number): void {
    for (const claims of this.#current.values())
      for (const claim of claims) if (claim.until !== null && claim.until < before) claims.delete(claim);
  }

  #of(pool: number): Set<Claim> {
    const claims = this.#current.get(pool) ?? new Set();
    this.#current.set(pool, claims);
    return claims;
  }
}

import type { Address } from 'viem';
import type { GraphPool } from './graph.ts';
import { RankedList } from './ranked-list.ts';

/** What a pool can give, raw units as floating-point numbers: 0 is nothing. */
export interface Liquidity {
  /** Of token1, for token0. */
  readonly bids: number;
  /** Of token0, for token1. */
  readonly asks: number;
  /** Whether a snapshot showed it. Else it is claimed: by balances and prices on record. */
  readonly isSeen: boolean;
}

/** The pools that give one token for another, those that can give most first. */
export class LiquidLeg<P extends GraphPool> {
  readonly tokenIn: Address;
  readonly seen = new RankedList<P>();
  readonly claimed = new RankedList<P>();

  constructor(tokenIn: Address) {
    this.tokenIn = tokenIn;
  }

  /** The most that one of its pools can give. */
  get most(): number {
    return Math.max(this.seen.highest, this.claimed.highest);
  }
}

/** What gives one token. A leg is ranked by the pool that can give most: over all its pools, and over those that were seen. */
interface Outlet<P extends GraphPool> {
  readonly byTokenIn: Map<Address, LiquidLeg<P>>;
  readonly legs: RankedList<LiquidLeg<P>>;
  readonly seenLegs: RankedList<LiquidLeg<P>>;
}

/**
 * Pools that can give anything, in the order of what they can give: changed pool by pool, so that a request finds the
 * best without a look at the others.
 */
export class LiquidityIndex<P extends GraphPool> {
  readonly #known = new Map<P, Liquidity>();
  readonly #outlets = new Map<Address, Outlet<P>>();

  /** Puts a pool in its place. @param liquidity null removes it */
  put(pool: P, liquidity: Liquidity | null): void {
    const known = this.#known.get(pool);
    if (known && liquidity && isSame(known, liquidity)) return;
    if (known) this.#forBoth(pool, known, (pools, gives) => pools.remove(pool, gives));
    if (!liquidity || (liquidity.bids === 0 && liquidity.asks === 0)) {
      this.#known.delete(pool);
      return;
    }
    this.#known.set(pool, liquidity);
    this.#forBoth(pool, liquidity, (pools, gives) => pools.add(pool, gives));
  }

  leg(tokenIn: Address, tokenOut: Address): LiquidLeg<P> | undefined {
    return this.#outlets.get(tokenOut)?.byTokenIn.get(tokenIn);
  }

  /** All legs that give a token. */
  legsTo(tokenOut: Address): Pick<Outlet<P>, 'legs' | 'seenLegs'> {
    return this.#outlets.get(tokenOut) ?? NO_LEGS;
  }

  #forBoth(
    { token0, token1 }: P,
    { bids, asks, isSeen }: Liquidity,
    change: (pools: RankedList<P>, gives: number) => void,
  ): void {
    const [of0, of1] = [token0.address, token1.address];
    for (const [tokenIn, tokenOut, gives] of [
      [of0, of1, bids],
      [of1, of0, asks],
    ] as const) {
      if (gives === 0) continue;
      this.#changeLeg(tokenIn, tokenOut, (leg) => change(isSeen ? leg.seen : leg.claimed, gives));
    }
  }

  #changeLeg(tokenIn: Address, tokenOut: Address, change: (leg: LiquidLeg<P>) => void): void {
    const outlet = this.#outlets.get(tokenOut) ?? newOutlet<P>();
    this.#outlets.set(tokenOut, outlet);
    const leg = outlet.byTokenIn.get(tokenIn) ?? new LiquidLeg<P>(tokenIn);
    outlet.byTokenIn.set(tokenIn, leg);
    const [most, seen] = [leg.most, leg.seen.highest];
    change(leg);
    moveTo(outlet.legs, leg, most, leg.most);
    moveTo(outlet.seenLegs, leg, seen, leg.seen.highest);
    if (leg.most === 0) outlet.byTokenIn.delete(tokenIn);
    if (outlet.byTokenIn.size === 0) this.#outlets.delete(tokenOut);
  }
}

/** Moves an item of a list; at 0 it is not in the list. */
function moveTo<T>(list: RankedList<T>, item: T, from: number, to: number): void {
  if (from === to) return;
  if (from > 0) list.remove(item, from);
  if (to > 0) list.add(item, to);
}

const newOutlet = <P extends GraphPool>(): Outlet<P> => ({
  byTokenIn: new Map(),
  legs: new RankedList(),
  seenLegs: new RankedList(),
});

const NO_LEGS = newOutlet<never>();

const isSame = (a: Liquidity, b: Liquidity) => a.bids === b.bids && a.asks === b.asks && a.isSeen === b.isSeen;

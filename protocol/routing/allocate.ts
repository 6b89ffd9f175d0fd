import { minBigint } from '../fixed-point.ts';
import { foundAt, givenWithin } from './fill-curve.ts';
import type { GraphPool, TokenPath } from './graph.ts';
import type { Hop } from './hop.ts';
import { type PriceStep, priceSteps } from './price-steps.ts';

/** How far each hop of a search is used, given amount in raw units; unused hops are absent. */
export type Usage<P extends GraphPool> = ReadonlyMap<Hop<P>, bigint>;

/**
 * Gives an order out by marginal price: always to the token path whose best near and best far hop together have the best
 * price at the point reached, until a price step of either ends. What no path can take stays unused.
 *
 * @param paths legs near first; a hop is in one of them
 * @param given the order, raw units of the fixed amount
 * @param tick called on each step; throws to stop the search
 */
export function allocate<P extends GraphPool>(
  paths: readonly TokenPath<Hop<P>>[],
  given: bigint,
  tick: () => void,
): Usage<P> {
  const flows = paths.map((path) => new PathFlow(path));
  let remaining = given;
  while (remaining > 0n) {
    tick();
    const best = bestOf(flows);
    if (!best) break;
    remaining -= best.take(remaining);
  }
  return new Map(flows.flatMap((flow) => flow.usage()));
}

function bestOf<P extends GraphPool>(flows: readonly PathFlow<P>[]): PathFlow<P> | null {
  let best: PathFlow<P> | null = null;
  for (const flow of flows) if (flow.rate > (best?.rate ?? 0n)) best = flow;
  return best;
}

/** How far a token path is used along the curves of its hops. */
class PathFlow<P extends GraphPool> {
  readonly #near: Leg<P>;
  readonly #far: Leg<P> | null;

  constructor({ legs: [near, far] }: TokenPath<Hop<P>>) {
    this.#near = new Leg(near);
    this.#far = far ? new Leg(far) : null;
  }

  /** Output per input at the point reached, Q256; 0 when the path is used up. */
  get rate(): bigint {
    return this.#far ? this.#near.rate * this.#far.rate : this.#near.rate << 128n;
  }

  /** Uses the best hops up to the end of a price step of either, but at most `most`. Returns what it took. */
  take(most: bigint): bigint {
    const near = this.#near.head;
    const far = this.#far?.head;
    const nearEnd = minBigint(near.stepEnd, near.given + most);
    const farEnd = far ? near.givenFor(far.room) : nearEnd;
    const taken = near.advance(minBigint(nearEnd, farEnd));
    // What is left of a far step may be too little for one unit of the near hop: the step counts as ended.
    far?.advance(far.given + taken.found, farEnd < nearEnd);
    this.#near.choose();
    this.#far?.choose();
    return taken.given;
  }

  usage(): [Hop<P>, bigint][] {
    return [...this.#near.usage(), ...(this.#far?.usage() ?? [])];
  }
}

/** The hops of one leg. Its head is the one with the best price at the point that it has reached. */
class Leg<P extends GraphPool> {
  head: HopCursor<P>;
  /** Price of the head, output per input, Q128. */
  rate: bigint;
  readonly #cursors: readonly HopCursor<P>[];

  constructor(hops: readonly Hop<P>[]) {
    this.#cursors = hops.map((hop) => new HopCursor(hop));
    const [first] = this.#cursors;
    if (!first) throw new RangeError('a leg without hops');
    this.head = first;
    this.rate = -1n;
    this.choose();
  }

  choose(): void {
    if (this.head.rate === this.rate) return;
    for (const cursor of this.#cursors) if (cursor.rate > this.head.rate) this.head = cursor;
    this.rate = this.head.rate;
  }

  usage(): [Hop<P>, bigint][] {
    return this.#cursors.filter(({ given }) => given > 0n).map(({ hop, given }) => [hop, given]);
  }
}

/** How far a hop is used, and in which price step that is. */
class HopCursor<P extends GraphPool> {
  readonly hop: Hop<P>;
  given = 0n;
  #found = 0n;
  #index = 0;
  readonly #steps: readonly PriceStep[];

  constructor(hop: Hop<P>) {
    this.hop = hop;
    this.#steps = priceSteps(hop.curve);
  }

  /** Output per input of the current step, Q128; 0 behind the last one. */
  get rate(): bigint {
    return this.#steps[this.#index]?.rateX128 ?? 0n;
  }

  get stepEnd(): bigint {
    return this.#steps[this.#index]?.end ?? this.given;
  }

  /** What is left of the current step, given amount. */
  get room(): bigint {
    return this.stepEnd - this.given;
  }

  /** The point up to which this hop may be used so that no more than `found` comes of the rest. */
  givenFor(found: bigint): bigint {
    return givenWithin(this.hop.curve, this.#found + found);
  }

  /** Moves to a point ahead in the current step, and on to the next step if it is the step's end or said to be. */
  advance(to: bigint, endsStep = false): { given: bigint; found: bigint } {
    const found = foundAt(this.hop.curve, to);
    const moved = { given: to - this.given, found: found - this.#found };
    if (endsStep || to >= this.stepEnd) this.#index += 1;
    this.given = to;
    this.#found = found;
    return moved;
  }
}

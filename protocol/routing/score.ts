import { capacity, foundAt, type TradeType } from './fill-curve.ts';
import type { GraphPool, TokenPath } from './graph.ts';
import type { Hop, HopPath } from './hop.ts';
import { isBetter } from './settle.ts';

/** An order: the amount that the trader fixes, raw units. */
export interface Order {
  readonly tradeType: TradeType;
  readonly given: bigint;
}

export interface Scores<P extends GraphPool> {
  /** Number of candidate paths walked. */
  readonly considered: number;
  /** The path that is best for the whole order; null when no path can take it whole. */
  readonly best: HopPath<P> | null;
}

/**
 * Walks every path of the paths (legs near first) for the whole order. Of equal paths the first wins.
 *
 * @param tick called once per near hop; throws to stop the search
 */
export function scorePaths<P extends GraphPool>(
  paths: readonly TokenPath<Hop<P>>[],
  order: Order,
  tick: () => void,
): Scores<P> {
  let considered = 0;
  let best: { path: HopPath<P>; found: bigint } | null = null;
  const offer = (path: HopPath<P>, found: bigint) => {
    if (found > 0n && (!best || isBetter(order.tradeType, found, best.found))) best = { path, found };
  };
  for (const { legs } of paths) {
    for (const near of legs[0]) {
      tick();
      considered += legs[1]?.length ?? 1;
      const found = follow(near, order.given);
      if (!legs[1]) offer({ near, far: null }, found);
      else if (found > 0n) for (const far of legs[1]) offer({ near, far }, follow(far, found));
    }
  }
  return { considered, best: (best as { path: HopPath<P> } | null)?.path ?? null };
}

/** What an amount leads to through a hop; 0 when the hop cannot take it whole. */
function follow<P extends GraphPool>({ curve }: Hop<P>, given: bigint): bigint {
  return given > capacity(curve) ? 0n : foundAt(curve, given);
}

import { capacity, foundAt } from './fill-curve.ts';
import type { GraphPool } from './graph.ts';
import { type Hop, type HopPath, isBetter, type Order } from './routes.ts';

/**
 * The best result over all splits of an order in steps of 1/grid over at most `maxRoutes` of the paths; null when none
 * takes the whole order. Exponential: for small markets only.
 */
export function bestOnGrid<P extends GraphPool>(
  paths: readonly HopPath<P>[],
  order: Order,
  maxRoutes: number,
  grid: number,
): bigint | null {
  const used = new Map<Hop<P>, bigint>();
  const unit = order.given / BigInt(grid);
  let best: bigint | null = null;

  const search = (from: number, routes: number, units: number, found: bigint): void => {
    if (units === 0 && (best === null || isBetter(order.tradeType, found, best))) best = found;
    if (units === 0 || routes === 0) return;
    for (const [index, path] of paths.entries()) {
      if (index < from) continue;
      const before = usageOf(path);
      for (let count = 1; count <= units; count++) {
        // The last route takes what division by the grid left over.
        const given = count === units ? order.given - unit * BigInt(grid - units) : unit * BigInt(count);
        const result = follow(path, given);
        if (result === null) break;
        search(index + 1, routes - 1, units - count, found + result);
        restore(before);
      }
      restore(before);
    }
  };

  const usageOf = ({ near, far }: HopPath<P>) =>
    [near, far].map((hop) => ({ hop, point: (hop && used.get(hop)) ?? 0n }));
  const restore = (points: ReturnType<typeof usageOf>) => {
    for (const { hop, point } of points) if (hop) used.set(hop, point);
  };
  const follow = ({ near, far }: HopPath<P>, given: bigint) => {
    const found = move(near, given);
    return found === null || !far ? found : move(far, found);
  };
  const move = (hop: Hop<P>, given: bigint) => {
    const start = used.get(hop) ?? 0n;
    if (start + given > capacity(hop.curve)) return null;
    used.set(hop, start + given);
    return foundAt(hop.curve, start + given) - foundAt(hop.curve, start);
  };

  search(0, maxRoutes, grid, 0n);
  return best;
}

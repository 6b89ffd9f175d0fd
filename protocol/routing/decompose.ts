import { minBigint } from '../fixed-point.ts';
import type { Usage } from './allocate.ts';
import type { Cluster } from './cluster.ts';
import { capacity, foundAt, givenWithin } from './fill-curve.ts';
import type { GraphPool } from './graph.ts';
import type { Hop, PathShare } from './hop.ts';

/**
 * Turns the use of a cluster's hops into routes, at most near + far - 1 of them. Near hops are emptied one after the
 * other into far hops filled one after the other (the north-west corner rule), so when the routes are executed in the
 * order given, each hop is used along its curve exactly as far as the allocation says.
 *
 * Rounding can leave a few units that no far hop has room for: they are missing in the result.
 */
export function decompose<P extends GraphPool>(cluster: Cluster<P>, usage: Usage<P>): readonly PathShare<P>[] {
  const near = cluster.near.filter((hop) => usage.has(hop));
  if (!cluster.far) return near.map((hop) => ({ path: { near: hop, far: null }, given: usage.get(hop) ?? 0n }));
  const far = cluster.far.filter((hop) => usage.has(hop)).map((hop) => ({ hop, room: usage.get(hop) ?? 0n }));
  const last = far.at(-1);
  // The last far hop takes what rounding left over, as far as it can.
  if (last) last.room = capacity(last.hop.curve);
  return near.flatMap((hop) => pour(hop, usage.get(hop) ?? 0n, far));
}

interface FarRoom<P extends GraphPool> {
  readonly hop: Hop<P>;
  room: bigint;
}

/** Pours the use of one near hop into the far hops that still have room, and takes that room away. */
function pour<P extends GraphPool>(near: Hop<P>, total: bigint, far: readonly FarRoom<P>[]): readonly PathShare<P>[] {
  const shares: PathShare<P>[] = [];
  let reached = 0n;
  for (const target of far) {
    if (reached === total) break;
    const found = foundAt(near.curve, reached);
    const end = minBigint(total, givenWithin(near.curve, found + target.room));
    target.room -= foundAt(near.curve, end) - found;
    if (end > reached) shares.push({ path: { near, far: target.hop }, given: end - reached });
    reached = end;
  }
  return shares;
}

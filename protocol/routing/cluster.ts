import type { GraphPool } from './graph.ts';
import type { Hop, HopPath } from './hop.ts';

/**
 * Hops that share what flows through them: every `near` may pass on to every `far`. `far` is null for a direct hop, which
 * shares with nobody.
 */
export interface Cluster<P extends GraphPool> {
  readonly near: readonly Hop<P>[];
  readonly far: readonly Hop<P>[] | null;
}

interface OpenCluster<P extends GraphPool> {
  readonly near: Set<Hop<P>>;
  readonly far: Set<Hop<P>>;
}

/** Groups routes that share a pool, directly or through others. n routes of one group join at most n + 1 pools. */
export function clusters<P extends GraphPool>(paths: readonly HopPath<P>[]): readonly Cluster<P>[] {
  const direct: Cluster<P>[] = [];
  const owner = new Map<Hop<P>, OpenCluster<P>>();
  for (const { near, far } of paths) {
    if (far) join(owner, near, far);
    else direct.push({ near: [near], far: null });
  }
  const joined = [...new Set(owner.values())].map(({ near, far }) => ({ near: [...near], far: [...far] }));
  return [...direct, ...joined];
}

function join<P extends GraphPool>(owner: Map<Hop<P>, OpenCluster<P>>, near: Hop<P>, far: Hop<P>): void {
  const cluster = owner.get(near) ?? { near: new Set<Hop<P>>(), far: new Set<Hop<P>>() };
  const other = owner.get(far);
  cluster.near.add(near);
  cluster.far.add(far);
  for (const hop of other?.near ?? []) cluster.near.add(hop);
  for (const hop of other?.far ?? []) cluster.far.add(hop);
  for (const hop of [...cluster.near, ...cluster.far]) owner.set(hop, cluster);
}

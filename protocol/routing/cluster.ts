import type { GraphPool, TokenPath } from './graph.ts';
import type { Hop, HopPath } from './hop.ts';

/**
 * Hops that share what flows through them: every `near` may pass on to every `far`. `far` is null for a direct hop, which
 * shares nothing. A hop is in one cluster of a search.
 */
export interface Cluster<P extends GraphPool> {
  readonly near: readonly Hop<P>[];
  readonly far: readonly Hop<P>[] | null;
}

/** All paths of the paths (legs near first) as clusters. */
export function clustersOfTokenPaths<P extends GraphPool>(paths: readonly TokenPath<Hop<P>>[]): readonly Cluster<P>[] {
  return paths.flatMap(({ legs: [near, far] }) => (far ? [{ near, far }] : near.map(directCluster)));
}

/** Groups routes that share a pool, directly or through others: a group of n routes joins at most n + 1 pools. */
export function clustersOfPaths<P extends GraphPool>(paths: readonly HopPath<P>[]): readonly Cluster<P>[] {
  const direct = new Set<Hop<P>>();
  const owner = new Map<Hop<P>, OpenCluster<P>>();
  for (const { near, far } of paths) {
    if (far) join(owner, near, far);
    else direct.add(near);
  }
  const joined = [...new Set(owner.values())].map(({ near, far }) => ({ near: [...near], far: [...far] }));
  return [...[...direct].map(directCluster), ...joined];
}

interface OpenCluster<P extends GraphPool> {
  readonly near: Set<Hop<P>>;
  readonly far: Set<Hop<P>>;
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

const directCluster = <P extends GraphPool>(hop: Hop<P>): Cluster<P> => ({ near: [hop], far: null });

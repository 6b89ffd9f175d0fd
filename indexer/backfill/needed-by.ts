import { chainKey } from '../deployments.ts';
import type { BuildMetrics } from './build-metrics.ts';
import type { Position } from './progress.ts';

/** How far a build is. */
export type BuildState = Position & {
  readonly schema: string;
  /** Whether a process that wrote the schema before still does. */
  readonly isTaken: boolean;
  /** Null until the indexer answers. */
  readonly metrics: BuildMetrics | null;
  /** Whether it follows the heads of the chains, all final blocks being written. */
  readonly isFollowing: boolean;
};

/** Chains whose index is behind the head. */
export function behindHeads({ startBlocks, indexed, heads }: Position): number[] {
  return [...startBlocks.keys()].filter((id) => (indexed.get(id) ?? -1) < (heads.get(id) ?? 0));
}

/** What a build needs to continue, in words that follow "waiting for". */
export function neededBy(state: BuildState): string {
  const { schema, isTaken, metrics, isFollowing, startBlocks } = state;
  if (isFollowing) return `the newest blocks of ${namesOf(behindHeads(state))} from its nodes`;
  if (isTaken) return `another process to end that writes "${schema}"`;
  if (metrics === null || metrics.fetching === null) return 'the indexer to start';
  const fetching = [...startBlocks.keys()].filter((id) => metrics.fetching?.includes(chainKey(id)));
  if (fetching.length > 0) return `logs of ${namesOf(fetching)} from its nodes`;
  return metrics.isWritten ? 'Postgres to build the indexes of the tables' : 'the indexer to write what it fetched';
}

const namesOf = (chainIds: readonly number[]): string => `chain ${chainIds.join(', ')}`;

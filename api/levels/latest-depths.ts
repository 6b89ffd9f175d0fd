import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { DepthSnapshot, Snapshot } from '../../quoting/types.ts';
import type { LatestQuotes } from '../latest/latest-quotes.ts';
import type { FrameLook } from './next-awaited.ts';
import type { LevelQuotes } from './one-state.ts';

type LatestDepths = Pick<LatestQuotes, 'block' | 'get'>;

/** Looks at pools at the block that depths were read at last; null: at none yet. */
export function lookAt(
  depths: LatestDepths,
  pools: readonly ServedPool[],
  snapshots: Pick<LevelQuotes['snapshots'], 'isRead'>,
): FrameLook<DepthSnapshot> | null {
  if (!depths.block) return null;
  const look = (pool: ServedPool) => {
    const outcome = depths.get(pool.address)?.outcome;
    const isKnown = outcome instanceof SnapshotError || hasDepth(outcome);
    const isBeingRead = snapshots.isRead(pool, 'depths');
    return { pool: pool.address, outcome: isKnown ? outcome : undefined, isBeingRead };
  };
  return { block: depths.block, pools: pools.map(look) };
}

/** Differs when the block or one of these pools changed. */
export const versionsOf = (depths: LatestDepths, pools: readonly ServedPool[]): string =>
  [depths.block?.hash, ...pools.map(({ address }) => depths.get(address)?.version)].join();

/** The first snapshot of an unchanged quote: its levels are written already. */
export function firstAlike(depths: LatestDepths, snapshot: DepthSnapshot): DepthSnapshot {
  const first = depths.get(snapshot.pool.address)?.first;
  return hasDepth(first) ? first : snapshot;
}

const hasDepth = (outcome: Snapshot | SnapshotError | undefined): outcome is DepthSnapshot =>
  outcome !== undefined && !(outcome instanceof SnapshotError) && outcome.depth !== null;

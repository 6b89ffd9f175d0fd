import { buildGraph, type PoolGraph } from '../../protocol/routing/graph.ts';
import { type PoolTable, type ServedPool, swapGuards } from '../snapshots/pool-directory.ts';

/** Guards whose refusals the snapshots know. Any other may refuse a trader whatever a snapshot says. */
const PROBED_GUARDS = new Set(['stopLoss', 'priceVelocityGuard']);

const graphs = new WeakMap<PoolTable, Map<number, PoolGraph<ServedPool>>>();

/**
 * The chain's pools that routes may use, as a graph. It is made once for each table; the directory replaces its table in
 * the background, so no request waits for a refresh. Health and pause change by the block and are left to snapshots.
 */
export function poolGraph(table: PoolTable, chainId: number): PoolGraph<ServedPool> {
  const ofTable = graphs.get(table) ?? new Map<number, PoolGraph<ServedPool>>();
  graphs.set(table, ofTable);
  const graph = ofTable.get(chainId) ?? buildGraph(table.ofChain(chainId).filter(isOpenToAnyone));
  ofTable.set(chainId, graph);
  return graph;
}

/** Whether a snapshot tells what any trader can do: a swap allowlist or an unknown extension judges by the trader. */
function isOpenToAnyone(pool: ServedPool): boolean {
  return swapGuards(pool).every(({ kind }) => PROBED_GUARDS.has(kind));
}

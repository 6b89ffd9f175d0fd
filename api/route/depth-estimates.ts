import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { eventLayout } from '../../protocol/layouts/event-layouts.ts';
import { candidateTokenPaths, type PairOrder } from '../../protocol/routing/candidate-token-paths.ts';
import { mapLegs, type PoolGraph, type TokenPath } from '../../protocol/routing/graph.ts';
import { type DepthEstimate, estimateDepth, type PoolCandidate } from '../../protocol/routing/pool-candidate.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import type { CurveReport } from '../snapshots/snapshot-metrics.ts';
import { type DepthSnapshot, SnapshotError } from '../snapshots/types.ts';

export type Candidate = PoolCandidate<ServedPool>;

/** Both directions of a pool: bids sell token0. */
interface BothSides {
  readonly bids: DepthEstimate;
  readonly asks: DepthEstimate;
}

/** What the balances and prices of a pool promise. */
export interface ReportedDepth extends BothSides {
  readonly tierRank: number;
}

const NO_SIDE: DepthEstimate = { inputs: [], outputs: [] };
const NO_DEPTH: ReportedDepth = { bids: NO_SIDE, asks: NO_SIDE, tierRank: 0 };
/** Pools of a chain whose last depth is kept: about 1 KB each, and many times what a request reads. */
const OBSERVED_POOLS = 5_000;
/** How long the compared pools of a pair stay the same while no pool of the chain comes or goes. */
const COMPARED_MS = 3_000;
/** Pools in all lists of compared pools: about 50 bytes each. */
const COMPARED_POOLS = 200_000;
/** A pool that showed no depth counts by what is reported again after this time. */
const CLOSED_MS = 60_000;
/** What the read of a simulated pool counts: it takes calls of its own. */
const SIMULATED_COST = 5;

/** What routes know of a chain's pools before they read them: the depth observed last, else what is reported. */
export class ChainDepthEstimates {
  readonly #observed = new LRUCache<ServedPool, BothSides>({ max: OBSERVED_POOLS });
  readonly #reported = new Map<ServedPool, ReportedDepth>();
  readonly #ranks = new LRUCache<Address, CurveReport['rank']>({ max: OBSERVED_POOLS });
  /** Warm requests show the same snapshots again. */
  readonly #ofSnapshots = new WeakMap<DepthSnapshot, BothSides>();
  readonly #compared = new LRUCache<string, readonly TokenPath<Pick<Candidate, 'pool' | 'zeroForOne'>>[]>({
    maxSize: COMPARED_POOLS,
    ttl: COMPARED_MS,
  });

  /** Takes how the curve of a pool became known. */
  readonly report = ({ pool, rank }: Pick<CurveReport, 'pool' | 'rank'>): void => {
    this.#ranks.set(pool, rank);
  };

  readonly describe = (pool: ServedPool, zeroForOne: boolean): Candidate => {
    const observed = this.#observed.peek(pool);
    const reported = this.#reported.get(pool) ?? (this.#reported.size > 0 ? NO_DEPTH : undefined);
    const known = observed ?? reported;
    return {
      pool,
      zeroForOne,
      estimate: known ? known[zeroForOne ? 'bids' : 'asks'] : null,
      isObserved: observed !== undefined,
      tierRank: reported?.tierRank ?? 0,
      cost: this.#cost(pool),
    };
  };

  /**
   * The paths between two tokens with the pools that are compared for an order, legs near first. To find them takes
   * milliseconds where there are many thousands, so they are kept for a moment.
   *
   * @param most pools of a leg and kind
   */
  candidatePaths(graph: PoolGraph<ServedPool>, order: PairOrder, most: number): readonly TokenPath<Candidate>[] {
    const key = `${graph.version} ${order.tokenIn} ${order.tokenOut} ${order.tradeType}`;
    let paths = this.#compared.get(key);
    if (!paths) {
      const direction = ({ pool, zeroForOne }: Candidate) => ({ pool, zeroForOne });
      const found = candidateTokenPaths(graph, this.describe, order, most);
      paths = found.map((path) => mapLegs(path, (leg) => leg.map(direction)));
      this.#compared.set(key, paths, { size: paths.reduce((sum, { legs }) => sum + legs.flat().length, 1) });
    }
    return paths.map((path) =>
      mapLegs(path, (leg) => leg.map(({ pool, zeroForOne }) => this.describe(pool, zeroForOne))),
    );
  }

  /** How the curve of the pool became known when it was read last. */
  rank({ address }: Pick<ServedPool, 'address'>): CurveReport['rank'] | undefined {
    return this.#ranks.get(address);
  }

  /** Keeps what snapshots showed. A read that failed because of the chain says nothing of the pool. */
  observe(pools: readonly ServedPool[], snapshots: ReadonlyMap<Address, DepthSnapshot | SnapshotError>): void {
    for (const pool of pools) {
      const snapshot = snapshots.get(pool.address);
      if (!snapshot || isChainFailure(snapshot)) continue;
      const sides = snapshot instanceof SnapshotError ? NO_DEPTH : this.#estimate(snapshot);
      const isClosed = sides.bids.inputs.length === 0 && sides.asks.inputs.length === 0;
      this.#observed.set(pool, sides, { ttl: isClosed ? CLOSED_MS : 0 });
    }
  }

  /** Takes what is reported of a pool, null when nothing is. While anything is, a pool without a report has nothing. */
  record(pool: ServedPool, reported: ReportedDepth | null): void {
    if (reported) this.#reported.set(pool, reported);
    else this.#reported.delete(pool);
  }

  /** Where fees are not public a pool may be simulated, unless it is known to be read cheaper. */
  #cost({ address, layout }: ServedPool): number {
    if (eventLayout(layout).tellsSwaps) return 1;
    const rank = this.#ranks.get(address);
    return rank === 'formula' || rank === 'fit' ? 1 : SIMULATED_COST;
  }

  #estimate(snapshot: DepthSnapshot): BothSides {
    const { bids, asks } = snapshot.depth;
    const sides = this.#ofSnapshots.get(snapshot) ?? { bids: estimateDepth(bids), asks: estimateDepth(asks) };
    this.#ofSnapshots.set(snapshot, sides);
    return sides;
  }
}

/** What routes know of pools, by chain. */
export class DepthEstimates {
  readonly #chains = new Map<number, ChainDepthEstimates>();

  of(chainId: number): ChainDepthEstimates {
    const chain = this.#chains.get(chainId) ?? new ChainDepthEstimates();
    this.#chains.set(chainId, chain);
    return chain;
  }
}

function isChainFailure(snapshot: DepthSnapshot | SnapshotError): boolean {
  return snapshot instanceof SnapshotError ? snapshot.code !== 'unavailable' : snapshot.status === 'internal_error';
}

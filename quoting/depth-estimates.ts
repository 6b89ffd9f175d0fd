import type { Address } from 'viem';
import { TIER_RANKS } from '../db/listing/tier-ranks.ts';
import { eventLayout } from '../protocol/layouts/event-layouts.ts';
import { candidateTokenPaths, type PairOrder } from '../protocol/routing/candidate-token-paths.ts';
import type { PoolGraph, TokenPath } from '../protocol/routing/graph.ts';
import { type DepthEstimate, estimateDepth, type PoolCandidate } from '../protocol/routing/pool-candidate.ts';
import { finishYielding } from '../runtime/for-each-yielding.ts';
import { perObject } from '../runtime/per-object.ts';
import { ResultCache } from '../runtime/result-cache.ts';
import type { PoolReport } from './pools/pool-catalog.ts';
import type { ServedPool } from './pools/pool-directory.ts';
import { SnapshotError } from './snapshot-error.ts';
import type { CurveReport } from './snapshot-metrics.ts';
import type { DepthSnapshot } from './types.ts';

/** A pool in a direction, with what is known of it now: a candidate that is kept shows what was learnt since. */
export type Candidate = PoolCandidate<ServedPool>;
type Paths = readonly TokenPath<Candidate>[];

/** Both directions of a pool: bids sell token0. */
interface BothSides {
  readonly bids: DepthEstimate;
  readonly asks: DepthEstimate;
}

/** What the balances and prices of a pool promise. */
interface ReportedDepth extends BothSides {
  readonly tierRank: number;
}

interface KnownPool {
  observed: BothSides | null;
  /** When the depth observed counts no more, by `performance.now()`. */
  observedUntil: number;
  reported: ReportedDepth | null;
  method: CurveReport['method'] | undefined;
}

const NO_SIDE: DepthEstimate = { inputs: [], outputs: [] };
const NO_DEPTH: BothSides = { bids: NO_SIDE, asks: NO_SIDE };
/** How long the compared pools of a pair stay the same while no pool of the chain comes or goes. */
const COMPARED_MS = 3_000;
/** Pools in all lists of compared pools: about 100 bytes each. */
const COMPARED_POOLS = 200_000;
/** A pool that showed no depth counts by what is reported again after this time. */
const CLOSED_MS = 60_000;
/** What the read of a simulated pool counts: it takes calls of its own. */
const SIMULATED_COST = 5;
const Q64 = 2 ** 64;

/** What routes know of a chain's pools before they read them: the depth observed last, else what is reported. */
export class ChainDepthEstimates {
  readonly #pools = new Map<Address, KnownPool>();
  readonly #compared = new ResultCache<Paths>(COMPARED_POOLS, (paths) =>
    paths.reduce((sum, { legs }) => sum + legs.flat().length, 1),
  );

  /** Takes how the curve of a pool became known. */
  readonly report = ({ pool, method }: Pick<CurveReport, 'pool' | 'method'>): void => {
    this.#known(pool).method = method;
  };

  readonly describe = (pool: ServedPool, zeroForOne: boolean): Candidate => {
    const known = this.#known(pool.address);
    if (known.observedUntil < performance.now()) known.observed = null;
    return new LiveCandidate(pool, zeroForOne, known);
  };

  /**
   * The paths between two tokens with the pools that are compared for an order, legs near first. To find them takes
   * milliseconds where there are many thousands, so they are kept for a moment.
   *
   * @param most pools of a leg and kind
   */
  candidatePaths(graph: PoolGraph<ServedPool>, order: PairOrder, most: number): Promise<Paths> {
    const key = `${graph.version} ${order.tokenIn} ${order.tokenOut} ${order.tradeType}`;
    const find = () => finishYielding(candidateTokenPaths(graph, this.describe, order, most));
    return this.#compared.get(key, find, COMPARED_MS);
  }

  /** How the curve of the pool became known when it was read last. */
  curveMethod({ address }: Pick<ServedPool, 'address'>): CurveReport['method'] | undefined {
    return this.#pools.get(address)?.method;
  }

  /** Keeps what snapshots showed. A read that failed because of the chain says nothing of the pool. */
  observe(pools: readonly ServedPool[], snapshots: ReadonlyMap<Address, DepthSnapshot | SnapshotError>): void {
    for (const { address } of pools) {
      const snapshot = snapshots.get(address);
      if (!snapshot || isChainFailure(snapshot)) continue;
      const sides = snapshot instanceof SnapshotError ? NO_DEPTH : estimateOf(snapshot);
      const isClosed = sides.bids.inputs.length === 0 && sides.asks.inputs.length === 0;
      const known = this.#known(address);
      known.observed = sides;
      known.observedUntil = isClosed ? performance.now() + CLOSED_MS : Number.POSITIVE_INFINITY;
    }
  }

  /** Takes what is reported of a pool; null of one that is no longer served, of which all is forgotten. */
  record({ address }: ServedPool, reported: ReportedDepth | null): void {
    if (reported) this.#known(address).reported = reported;
    else this.#pools.delete(address);
  }

  #known(pool: Address): KnownPool {
    const known = this.#pools.get(pool);
    if (known) return known;
    const unknown = { observed: null, observedUntil: Number.POSITIVE_INFINITY, reported: null, method: undefined };
    this.#pools.set(pool, unknown);
    return unknown;
  }
}

class LiveCandidate implements Candidate {
  constructor(
    readonly pool: ServedPool,
    readonly zeroForOne: boolean,
    private readonly known: KnownPool,
  ) {}

  get estimate(): DepthEstimate | null {
    const sides = this.known.observed ?? this.known.reported;
    return sides?.[this.zeroForOne ? 'bids' : 'asks'] ?? null;
  }

  get isObserved(): boolean {
    return this.known.observed !== null;
  }

  get tierRank(): number {
    return this.known.reported?.tierRank ?? 0;
  }

  /** Where fees are not public a pool may be simulated, unless it is known to be read cheaper. */
  get cost(): number {
    const { method } = this.known;
    const isCheap = method === 'formula' || method === 'fit' || eventLayout(this.pool.layout).logsSwapState;
    return isCheap ? 1 : SIMULATED_COST;
  }
}

/**
 * What a pool claims to give by its balances and prices: the whole balance at the best price, since it has no more, and
 * nothing unless it is healthy.
 */
export function reportedDepth({ immutables: { scale } }: ServedPool, report: PoolReport): ReportedDepth {
  const { isHealthy, balance0, balance1, tier } = report;
  const tierRank = TIER_RANKS[tier ?? 'unclassified'];
  if (!isHealthy) return { ...NO_DEPTH, tierRank };
  // Raw token1 for a raw token0.
  const unit = Number(scale.multiplier0) / Number(scale.multiplier1) / Q64;
  const [sell, buy] = [report.sellX64 * unit, report.buyX64 * unit];
  return {
    bids: claim(sell > 0 ? balance1 / sell : 0, balance1),
    asks: claim(balance0 * buy, balance0),
    tierRank,
  };
}

const claim = (input: number, output: number): DepthEstimate =>
  input > 0 && output > 0 ? { inputs: [input], outputs: [output] } : NO_SIDE;

/** Warm requests show the same snapshots again. */
const estimateOf = perObject(
  ({ depth }: DepthSnapshot): BothSides => ({ bids: estimateDepth(depth.bids), asks: estimateDepth(depth.asks) }),
);

function isChainFailure(snapshot: DepthSnapshot | SnapshotError): boolean {
  return snapshot instanceof SnapshotError ? snapshot.code !== 'unavailable' : snapshot.status === 'internal_error';
}

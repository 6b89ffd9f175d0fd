import type { Address } from 'viem';
import { TIER_RANKS } from '../db/listing/tier-ranks.ts';
import { eventLayout } from '../protocol/layouts/event-layouts.ts';
import { candidateTokenPaths, type PairOrder } from '../protocol/routing/candidate-token-paths.ts';
import { PoolGraph, type TokenPath } from '../protocol/routing/graph.ts';
import { type DepthEstimate, estimateDepth, type PoolCandidate } from '../protocol/routing/pool-candidate.ts';
import type { Clock } from '../runtime/clock.ts';
import { finishYielding } from '../runtime/for-each-yielding.ts';
import { perObject } from '../runtime/per-object.ts';
import { ResultCache } from '../runtime/result-cache.ts';
import type { PoolReport } from './pools/chain-catalog.ts';
import type { ServedPool } from './pools/pool-directory.ts';
import { BlockTooOldError, SnapshotError } from './snapshot-error.ts';
import type { CurveReport } from './snapshot-metrics.ts';
import type { DepthSnapshot } from './types.ts';

/** A pool in one direction. Its fields show what is known now, so a candidate that is kept stays up to date. */
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

interface ObservedSide {
  readonly depth: DepthEstimate;
  /** Until when it counts, on the clock of the estimates. */
  readonly until: number;
}

interface KnownPool {
  readonly observed: { bids: ObservedSide | null; asks: ObservedSide | null };
  reported: ReportedDepth | null;
  /** How its curve became known at its last read. */
  method: CurveReport['method'] | undefined;
}

const NO_SIDE: DepthEstimate = { inputs: [], outputs: [] };
const NO_DEPTH: BothSides = { bids: NO_SIDE, asks: NO_SIDE };
/** How long the paths of a pair are cached, unless a pool of the chain is added or removed. */
const COMPARED_MS = 3_000;
/** Most pools in all cached paths: about 100 bytes each. */
const COMPARED_POOLS = 200_000;
/** After this time, reported depth counts again for a side that showed no depth. */
const CLOSED_MS = 60_000;
/** Cost of reading a simulated pool, where other pools cost 1: it takes calls of its own. */
const SIMULATED_COST = 5;
const Q64 = 2 ** 64;

/** What routes know of a chain's pools before they read them: the depth observed last, else reported depth. */
export class ChainDepthEstimates {
  readonly #now: Clock;
  readonly #pools = new Map<Address, KnownPool>();
  readonly #compared: ResultCache<Paths>;

  constructor(now: Clock) {
    this.#now = now;
    const sizeOf = (paths: Paths) => paths.reduce((sum, { legs }) => sum + legs.flat().length, 1);
    this.#compared = new ResultCache(COMPARED_POOLS, sizeOf, now);
  }

  /** Takes how the curve of a pool became known. */
  readonly report = ({ pool, method }: Pick<CurveReport, 'pool' | 'method'>): void => {
    this.#known(pool).method = method;
  };

  readonly describe = (pool: ServedPool, zeroForOne: boolean): Candidate => {
    const known = this.#known(pool.address);
    const side = sideOf(zeroForOne);
    if ((known.observed[side]?.until ?? 0) < this.#now()) known.observed[side] = null;
    return new LiveCandidate(pool, zeroForOne, known);
  };

  /**
   * Finds the paths between two tokens, with the pools that are compared for an order, legs near first. That takes
   * milliseconds among many thousands of pools, so the paths are cached for `COMPARED_MS`.
   *
   * @param order with a router only the direct paths over its pools
   * @param most pools of a leg and kind
   */
  candidatePaths(
    graph: PoolGraph<ServedPool>,
    order: PairOrder & { readonly router?: Address },
    most: number,
  ): Promise<Paths> {
    const { tokenIn, tokenOut, tradeType, router } = order;
    const key = `${graph.version} ${tokenIn} ${tokenOut} ${tradeType} ${router} ${most}`;
    const pools = () =>
      graph
        .neighbours(tokenIn)
        .get(tokenOut)
        ?.filter((pool) => pool.router === router);
    const find = () => {
      const searched = router ? new PoolGraph(pools()) : graph;
      return finishYielding(candidateTokenPaths(searched, this.describe, order, most));
    };
    return this.#compared.get(key, find, COMPARED_MS);
  }

  /** Whether depth is not read ahead for anonymous clients, since each level is simulated. */
  readonly isReadForKeys = ({ address }: Pick<ServedPool, 'address'>): boolean => {
    const method = this.#pools.get(address)?.method;
    return method === 'simulation' || method === 'none';
  };

  /**
   * Keeps what snapshots showed. A read that failed because of the chain says nothing about the pool. A committed block
   * without a price says nothing about live prices: what was seen counts for `CLOSED_MS`, then reported depth.
   */
  observe(pools: readonly ServedPool[], snapshots: ReadonlyMap<Address, DepthSnapshot | SnapshotError>): void {
    for (const { address } of pools) {
      const snapshot = snapshots.get(address);
      if (!snapshot || isChainFailure(snapshot)) continue;
      const sides = sidesIn(snapshot);
      const { observed } = this.#known(address);
      for (const side of ['bids', 'asks'] as const)
        observed[side] = observedSide(observed[side], sides?.[side] ?? null, this.#now() + CLOSED_MS);
    }
  }

  /** Keeps the reported depth of a pool. Null says that the pool is no longer served: all about it is forgotten. */
  record({ address }: ServedPool, reported: ReportedDepth | null): void {
    if (reported) this.#known(address).reported = reported;
    else this.#pools.delete(address);
  }

  #known(pool: Address): KnownPool {
    const known = this.#pools.get(pool);
    if (known) return known;
    const unknown = { observed: { bids: null, asks: null }, reported: null, method: undefined };
    this.#pools.set(pool, unknown);
    return unknown;
  }
}

const isOpen = ({ inputs }: DepthEstimate): boolean => inputs.length > 0;
const sideOf = (zeroForOne: boolean) => (zeroForOne ? 'bids' : 'asks');

class LiveCandidate implements Candidate {
  readonly pool: ServedPool;
  readonly zeroForOne: boolean;
  readonly #known: KnownPool;

  constructor(pool: ServedPool, zeroForOne: boolean, known: KnownPool) {
    this.pool = pool;
    this.zeroForOne = zeroForOne;
    this.#known = known;
  }

  get estimate(): DepthEstimate | null {
    const side = sideOf(this.zeroForOne);
    return this.#known.observed[side]?.depth ?? this.#known.reported?.[side] ?? null;
  }

  get isObserved(): boolean {
    return this.#known.observed[sideOf(this.zeroForOne)] !== null;
  }

  get tierRank(): number {
    return this.#known.reported?.tierRank ?? 0;
  }

  /** A pool whose fees are not public costs as much as a simulated one, unless its last read was cheaper. */
  get cost(): number {
    const { method } = this.#known;
    const isCheap = method === 'formula' || method === 'fit' || eventLayout(this.pool.layout).logsSwapState;
    return isCheap ? 1 : SIMULATED_COST;
  }
}

/**
 * Estimates the depth of a pool from its balances and prices: the whole balance at the best price, which is the most
 * that it can give. A pool that is not healthy gives nothing.
 */
export function reportedDepth({ immutables: { scale } }: ServedPool, report: PoolReport): ReportedDepth {
  const { isHealthy, balance0, balance1, tier } = report;
  const tierRank = TIER_RANKS[tier ?? 'unclassified'];
  if (!isHealthy) return { ...NO_DEPTH, tierRank };
  // From Q64.64 to raw token1 per raw token0.
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

/** Computed once per snapshot: requests that the cache serves show the same snapshots again. */
const estimateOf = perObject(
  ({ depth }: DepthSnapshot): BothSides => ({ bids: estimateDepth(depth.bids), asks: estimateDepth(depth.asks) }),
);

function isChainFailure(snapshot: DepthSnapshot | SnapshotError): boolean {
  if (!(snapshot instanceof SnapshotError)) return snapshot.status === 'internal_error';
  return snapshot.code !== 'unavailable' || snapshot instanceof BlockTooOldError;
}

/** The depth that a snapshot shows; null where it has no price but a live one may be. */
function sidesIn(snapshot: DepthSnapshot | SnapshotError): BothSides | null {
  if (snapshot instanceof SnapshotError) return NO_DEPTH;
  const { status, hasSource, block } = snapshot;
  return status === 'feed_down' && hasSource && !block.pending ? null : estimateOf(snapshot);
}

/** What is known of a side. @param depth null: what was seen before counts until `soon` */
function observedSide(before: ObservedSide | null, depth: DepthEstimate | null, soon: number): ObservedSide | null {
  if (depth) return { depth, until: isOpen(depth) ? Number.POSITIVE_INFINITY : soon };
  return before && isOpen(before.depth) ? { ...before, until: Math.min(before.until, soon) } : null;
}

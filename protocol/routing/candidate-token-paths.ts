import type { Address } from 'viem';
import type { TradeType } from './fill-curve.ts';
import { type GraphPool, type PoolGraph, type TokenPath, tokenPaths } from './graph.ts';
import type { PoolCandidate } from './pool-candidate.ts';

/** Describes what is known about a pool in one direction. */
export type DescribePool<P extends GraphPool> = (pool: P, zeroForOne: boolean) => PoolCandidate<P>;

export interface PairOrder {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly tradeType: TradeType;
}

type Path<P extends GraphPool> = TokenPath<PoolCandidate<P>>;

/** A path via an intermediate token, and the most that one pool of its first and of its last leg can give. */
interface RankedPath<P extends GraphPool> {
  readonly path: Path<P>;
  readonly sold: number;
  readonly gives: number;
}

/** Pools of a leg after which the search yields, so that other requests are served. */
const STEP = 100;

/**
 * Chooses the paths between two tokens whose pools are compared for an order; legs near first. Few paths, and few pools
 * of a leg, are all taken. Of more, it takes (1) of each leg the observed pools that can give most, and the other pools
 * by tier, and (2) the intermediate tokens whose pools can give most of `tokenOut`: an untrusted token can promise any
 * amount of itself.
 *
 * @param most pools of a leg and kind; of intermediate tokens half as many of each kind
 * @yields between steps: there may be many thousands of pools
 * @returns empty when the graph has no path; a leg is empty when its pools can give nothing
 */
export function* candidateTokenPaths<P extends GraphPool>(
  graph: PoolGraph<P>,
  describe: DescribePool<P>,
  { tokenIn, tokenOut, tradeType }: PairOrder,
  most: number,
): Generator<void, readonly Path<P>[]> {
  const sell = (pool: P) => describe(pool, pool.token0.address === tokenIn);
  const buy = (pool: P) => describe(pool, pool.token1.address === tokenOut);
  const mostPaths = Math.ceil(most / 2);
  const few: Path<P>[] = [];
  const direct: Path<P>[] = [];
  const [observed, all] = [[] as RankedPath<P>[], [] as RankedPath<P>[]];
  for (const { legs } of tokenPaths(graph, tokenIn, tokenOut)) {
    const sold = yield* largestPools(legs[0], sell, most);
    const bought = legs[1] && (yield* largestPools(legs[1], buy, most));
    const path: Path<P> = { legs: bought ? [sold, bought] : [sold] };
    if (few.length <= mostPaths) few.push(path);
    if (!bought) direct.push(path);
    else {
      rank(observed, { path, sold: mostOf(sold, isObserved), gives: mostOf(bought, isObserved) }, mostPaths);
      rank(all, { path, sold: mostOf(sold), gives: mostOf(bought) }, mostPaths);
    }
    yield;
  }
  const richest = new Set([...direct, ...[...observed, ...all].map(({ path }) => path)]);
  // A path that can give nothing is still a path.
  const compared = few.length <= mostPaths ? few : richest.size > 0 ? [...richest] : few.slice(0, 1);
  if (tradeType === 'exact_in') return compared;
  return compared.map(({ legs: [sold, bought] }) => ({ legs: bought ? [bought, sold] : [sold] }));
}

/** Ranks a path by what its last leg can give, if its first leg can give anything. */
function rank<P extends GraphPool>(top: RankedPath<P>[], ranked: RankedPath<P>, most: number): void {
  if (ranked.sold > 0 && ranked.gives > 0) insert(top, ranked, (a, b) => b.gives - a.gives, most);
}

/** All pools of a leg if they are few, else the observed pools that can give most, and the other pools by tier. */
function* largestPools<P extends GraphPool>(
  pools: readonly P[],
  describe: (pool: P) => PoolCandidate<P>,
  most: number,
): Generator<void, readonly PoolCandidate<P>[]> {
  if (pools.length <= most) return pools.map(describe);
  const [observed, others] = [[] as PoolCandidate<P>[], [] as PoolCandidate<P>[]];
  for (const [index, pool] of pools.entries()) {
    const candidate = describe(pool);
    if (index % STEP === 0) yield;
    if (outputOf(candidate) === 0) continue;
    if (candidate.isObserved) insert(observed, candidate, byOutput, most);
    else insert(others, candidate, byTier, most);
  }
  return [...observed, ...others];
}

const isObserved = (candidate: PoolCandidate) => candidate.isObserved;

/** The most that a pool can give. A pool about which nothing is known ranks behind all that can give anything. */
const outputOf = ({ estimate }: PoolCandidate) => (estimate ? (estimate.outputs.at(-1) ?? 0) : Number.MIN_VALUE);

const mostOf = (leg: readonly PoolCandidate[], isOfKind: (candidate: PoolCandidate) => boolean = () => true) =>
  leg.reduce((most, candidate) => (isOfKind(candidate) ? Math.max(most, outputOf(candidate)) : most), 0);

type Compare<T> = (a: T, b: T) => number;
const byOutput: Compare<PoolCandidate> = (a, b) => outputOf(b) - outputOf(a);
const byTier: Compare<PoolCandidate> = (a, b) => b.tierRank - a.tierRank || byOutput(a, b);

/** Inserts an item in sorted order, behind equal ones, and keeps the first items up to a limit. */
function insert<T>(top: T[], item: T, compare: Compare<T>, most: number): void {
  const last = top.length === most ? top.at(-1) : undefined;
  if (last !== undefined && compare(item, last) >= 0) return;
  top.splice(top.findLastIndex((other) => compare(other, item) <= 0) + 1, 0, item);
  if (top.length > most) top.pop();
}

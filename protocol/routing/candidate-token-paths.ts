import type { Address } from 'viem';
import type { TradeType } from './fill-curve.ts';
import { type GraphPool, type PoolGraph, type TokenPath, tokenPaths } from './graph.ts';
import type { PoolCandidate } from './pool-candidate.ts';

/** What is known of a pool in a direction. */
export type DescribePool<P extends GraphPool> = (pool: P, zeroForOne: boolean) => PoolCandidate<P>;

export interface PairOrder {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly tradeType: TradeType;
}

/**
 * The paths between two tokens whose pools are compared for an order, legs near first: all of them while they are few. Else,
 * of each leg, the observed and the reported pools that can give most, and of intermediate tokens those whose pools can
 * give most of `tokenOut`: an untrusted token can promise any amount of itself.
 *
 * @param most pools of a leg and kind; of intermediate tokens half as many of each kind
 * @returns without a path when the graph has none; a leg is empty when nothing can be had of its pools
 */
export function candidateTokenPaths<P extends GraphPool>(
  graph: PoolGraph<P>,
  describe: DescribePool<P>,
  { tokenIn, tokenOut, tradeType }: PairOrder,
  most: number,
): readonly TokenPath<PoolCandidate<P>>[] {
  const sell = (pool: P) => describe(pool, pool.token0.address === tokenIn);
  const buy = (pool: P) => describe(pool, pool.token1.address === tokenOut);
  const paths = [...tokenPaths(graph, tokenIn, tokenOut)].map(({ legs: [sold, bought] }) => {
    const first = largestPools(sold.map(sell), most);
    return { legs: bought ? ([first, largestPools(bought.map(buy), most)] as const) : ([first] as const) };
  });
  const compared = paths.length > most / 2 ? richestPaths(paths, Math.ceil(most / 2)) : paths;
  if (tradeType === 'exact_in') return compared;
  return compared.map(({ legs: [sold, bought] }) => ({ legs: bought ? [bought, sold] : [sold] }));
}

/** The direct path, then those whose bought leg has the pool that gives most: over observed paths, and over all. */
function richestPaths<P extends GraphPool>(
  paths: readonly TokenPath<PoolCandidate<P>>[],
  most: number,
): readonly TokenPath<PoolCandidate<P>>[] {
  const direct = paths.filter(({ legs }) => legs.length === 1);
  const indirect = paths.filter(({ legs }) => legs.length === 2);
  const kinds = [isObserved, () => true].flatMap((isOfKind) => {
    const ranked = indirect.map((path) => ({
      path,
      gives: path.legs.map((leg) => Math.max(0, ...leg.filter(isOfKind).map(outputOf))),
    }));
    const open = ranked.filter(({ gives }) => gives.every((output) => output > 0));
    return first(open, (a, b) => (b.gives[1] ?? 0) - (a.gives[1] ?? 0), most).map(({ path }) => path);
  });
  const found = new Set([...direct, ...kinds]);
  // A path of which nothing can be had is still a path.
  return found.size > 0 ? [...found] : paths.slice(0, 1);
}

function largestPools<P extends GraphPool>(leg: readonly PoolCandidate<P>[], most: number) {
  if (leg.length <= most) return leg;
  const candidates = leg.filter((candidate) => outputOf(candidate) > 0);
  const others = candidates.filter((candidate) => !isObserved(candidate));
  return [...first(candidates.filter(isObserved), byOutput, most), ...first(others, byTier, most)];
}

const isObserved = (candidate: PoolCandidate) => candidate.isObserved;

/** All that a pool can give; a pool of which nothing is known comes behind those that give anything. */
const outputOf = ({ estimate }: PoolCandidate) => (estimate ? (estimate.outputs.at(-1) ?? 0) : Number.MIN_VALUE);

type Compare<T> = (a: T, b: T) => number;
const byOutput: Compare<PoolCandidate> = (a, b) => outputOf(b) - outputOf(a);
const byTier: Compare<PoolCandidate> = (a, b) => b.tierRank - a.tierRank || byOutput(a, b);

/** What a sort would put first, in one pass: there may be many thousands. */
function first<T>(items: readonly T[], compare: Compare<T>, most: number): readonly T[] {
  const top: T[] = [];
  for (const item of items) {
    const last = top.length === most ? top.at(-1) : undefined;
    if (last !== undefined && compare(item, last) >= 0) continue;
    top.splice(top.findLastIndex((other) => compare(other, item) <= 0) + 1, 0, item);
    if (top.length > most) top.pop();
  }
  return top;
}

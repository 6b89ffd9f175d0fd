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
  const paths = [...tokenPaths(graph, tokenIn, tokenOut)];
  const compared = paths.length > most / 2 ? richestPaths(paths, sell, buy, Math.ceil(most / 2)) : paths;
  return compared.map(({ legs: [sold, bought] }) => {
    const first = largestPools(sold.map(sell), most);
    if (!bought) return { legs: [first] };
    const second = largestPools(bought.map(buy), most);
    return { legs: tradeType === 'exact_in' ? [first, second] : [second, first] };
  });
}

/** The direct path, then those whose bought leg has the pool that gives most: over observed paths, and over all. */
function richestPaths<P extends GraphPool>(
  paths: readonly TokenPath<P>[],
  sell: (pool: P) => PoolCandidate<P>,
  buy: (pool: P) => PoolCandidate<P>,
  most: number,
): readonly TokenPath<P>[] {
  const ranked = paths.map((path) => ({ path, gives: largestOutputs(path.legs[1] ?? [], buy) }));
  const kinds = (['observed', 'any'] as const).map((kind) =>
    first(
      ranked,
      (a, b) => b.gives[kind] - a.gives[kind],
      most,
      ({ path, gives }) => gives[kind] > 0 && largestOutputs(path.legs[0], sell)[kind] > 0,
    ),
  );
  const direct = paths.filter(({ legs }) => legs.length === 1);
  const found = new Set([...direct, ...kinds.flat().map(({ path }) => path)]);
  // A path of which nothing can be had is still a path.
  return found.size > 0 ? [...found] : paths.slice(0, 1);
}

function largestPools<P extends GraphPool>(leg: readonly PoolCandidate<P>[], most: number) {
  if (leg.length <= most) return leg;
  const candidates = leg.filter((candidate) => outputOf(candidate) > 0);
  const observed = candidates.filter(({ isObserved }) => isObserved);
  const others = candidates.filter(({ isObserved }) => !isObserved);
  return [...first(observed, byOutput, most), ...first(others, byTier, most)];
}

/** The most that one pool gives: over those that were observed, and over all. */
function largestOutputs<P extends GraphPool>(leg: readonly P[], describe: (pool: P) => PoolCandidate<P>) {
  let [observed, any] = [0, 0];
  for (const pool of leg) {
    const candidate = describe(pool);
    const output = outputOf(candidate);
    any = Math.max(any, output);
    if (candidate.isObserved) observed = Math.max(observed, output);
  }
  return { observed, any };
}

/** All that a pool can give; a pool of which nothing is known comes behind those that give anything. */
const outputOf = ({ estimate }: PoolCandidate) => (estimate ? (estimate.outputs.at(-1) ?? 0) : Number.MIN_VALUE);

type Compare<T> = (a: T, b: T) => number;
const byOutput: Compare<PoolCandidate> = (a, b) => outputOf(b) - outputOf(a);
const byTier: Compare<PoolCandidate> = (a, b) => b.tierRank - a.tierRank || byOutput(a, b);

/** What a sort of the items that pass would put first, in one pass: there may be many thousands. */
function first<T>(items: readonly T[], compare: Compare<T>, most: number, passes = (_: T) => true): readonly T[] {
  const top: T[] = [];
  for (const item of items) {
    const last = top.length === most ? top.at(-1) : undefined;
    if ((last !== undefined && compare(item, last) >= 0) || !passes(item)) continue;
    top.splice(top.findLastIndex((other) => compare(other, item) <= 0) + 1, 0, item);
    if (top.length > most) top.pop();
  }
  return top;
}

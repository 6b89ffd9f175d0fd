import type { Address } from 'viem';
import type { PoolLimits } from './choose-pools.ts';
import { type Corridor, type GraphPool, middleTokens, type PoolGraph } from './graph.ts';
import type { LiquidityIndex } from './liquidity-index.ts';

export interface CandidateSources<P extends GraphPool> {
  readonly graph: PoolGraph<P>;
  readonly index: LiquidityIndex<P>;
  /** Whether nothing is known of a pool; null where something is known of all. */
  readonly isUnknown: ((pool: P) => boolean) | null;
}

/** Direct pools that are compared, by the places of a pair: of those that were seen, and of those that are claimed. */
const DIRECT = 8;
/** Middle tokens have fewer: at the first 4 times the places, at the twelfth as many, at the hundredth a sixth. */
const MIDDLE = 16;
const MIDDLE_FROM = 4;

/**
 * The corridors whose pools are compared for an order. Their number depends on the limits alone, not on the pools that
 * there are: of those that can give anything in the order's direction, the ones that can give most, seen and claimed
 * apart. Middle tokens go by what a pool of theirs can give of the token that is bought: a stranger's token may promise
 * any amount of itself. Pools of which nothing is known are added in the order of the graph.
 */
export function candidateCorridors<P extends GraphPool>(
  sources: CandidateSources<P>,
  tokenIn: Address,
  tokenOut: Address,
  limits: PoolLimits,
): readonly Corridor<P>[] {
  const found: Corridor<P>[] = [];
  const most = limits.maxPoolsPerPair;
  const direct = candidates(sources, tokenIn, tokenOut, DIRECT * most, most);
  if (direct.length > 0) found.push({ legs: [direct] });
  for (const [place, via] of [...middles(sources, tokenIn, tokenOut, limits)].entries()) {
    const share = Math.ceil((most * MIDDLE) / (MIDDLE_FROM + place));
    const first = candidates(sources, tokenIn, via, share, most);
    const second = candidates(sources, via, tokenOut, share, most);
    if (first.length > 0 && second.length > 0) found.push({ legs: [first, second] });
  }
  return found;
}

/** @param most of those that were seen, and of those that are claimed; @param mostUnknown of the others */
function candidates<P extends GraphPool>(
  { graph, index, isUnknown }: CandidateSources<P>,
  tokenIn: Address,
  tokenOut: Address,
  most: number,
  mostUnknown: number,
): readonly P[] {
  const leg = index.leg(tokenIn, tokenOut);
  // The index may still have pools that are no longer served.
  const isServed = (pool: P) => graph.has(pool);
  const known = leg ? [...leg.seen.best(most, isServed), ...leg.claimed.best(most, isServed)] : [];
  if (!isUnknown) return known;
  const unknown: P[] = [];
  for (const pool of graph.neighbours(tokenIn)?.get(tokenOut) ?? []) {
    if (unknown.length === mostUnknown) break;
    if (isUnknown(pool)) unknown.push(pool);
  }
  return [...known, ...unknown];
}

/** By turns those with the best legs that were seen and with the best of all; then others, where pools are unknown. */
function middles<P extends GraphPool>(
  { graph, index, isUnknown }: CandidateSources<P>,
  tokenIn: Address,
  tokenOut: Address,
  { maxPoolsPerRequest: most, maxTokensSearched }: PoolLimits,
): ReadonlySet<Address> {
  const { legs, seenLegs } = index.legsTo(tokenOut);
  const isVia = (via: Address) => via !== tokenIn && index.leg(tokenIn, via) !== undefined;
  const isSeenVia = (via: Address) => via !== tokenIn && (index.leg(tokenIn, via)?.seen.length ?? 0) > 0;
  const seen = seenLegs.best(most, (leg) => isSeenVia(leg.tokenIn), maxTokensSearched);
  const any = legs.best(most, (leg) => isVia(leg.tokenIn), maxTokensSearched);
  const found = new Set<Address>();
  for (let place = 0; place < most; place++) {
    for (const list of [seen, any]) {
      const leg = list[place];
      if (leg) found.add(leg.tokenIn);
    }
  }
  if (!isUnknown) return found;
  let left = most;
  for (const via of middleTokens(graph, tokenIn, tokenOut, maxTokensSearched)) {
    if (left-- === 0) break;
    found.add(via);
  }
  return found;
}

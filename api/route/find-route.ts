import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { PriceProviderStatus } from '../../protocol/quote-status.ts';
import type { PoolLimits } from '../../protocol/routing/choose-pools.ts';
import type { Corridor } from '../../protocol/routing/graph.ts';
import { type Hop, makeHop } from '../../protocol/routing/hop.ts';
import { type FoundPlan, findPlan, type NoPlan, type RoutingLimits } from '../../protocol/routing/plan.ts';
import { ApiError, badRequest } from '../errors.ts';
import { olderBlock } from '../http/block-headers.ts';
import type { PoolDirectory, PoolTable, ServedPool } from '../snapshots/pool-directory.ts';
import { type ChainSnapshots, type DepthSnapshot, SnapshotError, type SnapshotMap } from '../snapshots/types.ts';
import { boundCorridors } from './bound-corridors.ts';
import type { Deadline } from './deadline.ts';
import type { PoolOutlooks } from './pool-outlooks.ts';
import type { RouteRequest } from './route-request.ts';

export interface RouteSources {
  readonly directory: PoolDirectory;
  readonly snapshots: { of(chainId: number): Pick<ChainSnapshots, 'depths'> };
  readonly outlooks: PoolOutlooks;
}

/** A plan and the block of its pools; of several, the oldest. */
export type FoundRoute = FoundPlan<ServedPool> & { readonly block: BlockRef };

type RouteLimits = Omit<RoutingLimits, 'maxRoutes'> & PoolLimits;

/**
 * Finds the plan for a request on the chain's current snapshots.
 *
 * @throws ApiError 400 when the named pool has other tokens, 422 when there is no plan, 502 when there is no plan and
 * chain data is missing, 503 when the deadline passes or the pools are not known
 */
export async function findRoute(
  sources: RouteSources,
  limits: RouteLimits,
  chainId: number,
  request: RouteRequest,
  deadline: Deadline,
): Promise<FoundRoute> {
  const table = await deadline.within(sources.directory.table());
  const outlooks = sources.outlooks.of(chainId);
  const pools = request.poolAddress
    ? namedPool(table, chainId, request.poolAddress, request)
    : boundCorridors(table.graph(chainId), request, limits, outlooks);
  if (!pools) throw noPlan('no_route');
  const list = pools.flatMap(({ legs }) => legs.flat());
  if (list.length === 0) throw noPlan('insufficient_liquidity');
  const snapshots = await deadline.within(sources.snapshots.of(chainId).depths(list, { signal: deadline.signal }));
  outlooks.see(list, snapshots);
  const hops = hopCorridors(pools, snapshots, request);
  const found = findPlan(hops, request, { ...limits, maxRoutes: request.maxRoutes }, deadline.check);
  if (typeof found !== 'string') return { ...found, block: oldestBlock(found, snapshots) };
  deadline.check();
  throw missingData(list, snapshots) ?? noPlan(found);
}

function oldestBlock({ plan }: FoundPlan<ServedPool>, snapshots: SnapshotMap<DepthSnapshot>): BlockRef {
  const pools = plan.routes.flatMap(({ fills }) => fills.map(({ hop }) => hop.pool.address));
  const blocks = pools.flatMap((pool) => {
    const snapshot = snapshots.get(pool);
    return snapshot && !(snapshot instanceof SnapshotError) ? [snapshot.block] : [];
  });
  return blocks.reduce(olderBlock);
}

/** The one pool that the request names; null when it is not served. */
function namedPool(
  table: PoolTable,
  chainId: number,
  address: Address,
  { tokenIn, tokenOut }: RouteRequest,
): readonly Corridor<ServedPool>[] | null {
  const pool = table.find(chainId, address);
  if (!pool) return null;
  const tokens = [pool.token0.address, pool.token1.address];
  if (!tokens.includes(tokenIn) || !tokens.includes(tokenOut)) {
    throw badRequest('poolAddress is not a pool of tokenIn and tokenOut');
  }
  return [{ legs: [[pool]] }];
}

/** The corridors that healthy pools leave open, the leg of the fixed amount first. */
function hopCorridors(
  list: readonly Corridor<ServedPool>[],
  snapshots: SnapshotMap<DepthSnapshot>,
  { tokenIn, tokenOut, tradeType }: RouteRequest,
): readonly Corridor<Hop<ServedPool>>[] {
  const sells = (pools: readonly ServedPool[], token: Address) => hopsOf(pools, snapshots, tradeType, token, true);
  const buys = (pools: readonly ServedPool[], token: Address) => hopsOf(pools, snapshots, tradeType, token, false);
  const open: Corridor<Hop<ServedPool>>[] = [];
  for (const { legs } of list) {
    const first = sells(legs[0], tokenIn);
    const second = legs[1] && buys(legs[1], tokenOut);
    if (first.length === 0 || second?.length === 0) continue;
    if (!second) open.push({ legs: [first] });
    else open.push({ legs: tradeType === 'exact_in' ? [first, second] : [second, first] });
  }
  return open;
}

function hopsOf(
  pools: readonly ServedPool[],
  snapshots: SnapshotMap<DepthSnapshot>,
  tradeType: RouteRequest['tradeType'],
  token: Address,
  isTokenIn: boolean,
): readonly Hop<ServedPool>[] {
  return pools.flatMap((pool) => {
    const snapshot = snapshots.get(pool.address);
    if (!snapshot || snapshot instanceof SnapshotError || snapshot.status !== 'healthy') return [];
    const zeroForOne = (pool.token0.address === token) === isTokenIn;
    return [makeHop(pool, zeroForOne, zeroForOne ? snapshot.depth.bids : snapshot.depth.asks, tradeType)];
  });
}

/** The error to report when there is no plan and pools are missing that might have made one; null when all are known. */
function missingData(pools: readonly ServedPool[], snapshots: SnapshotMap<DepthSnapshot>): ApiError | null {
  const missing = pools.flatMap((pool) => {
    const entry = snapshots.get(pool.address);
    return !entry || entry instanceof SnapshotError || UNREAD.has(entry.status) ? [entry] : [];
  });
  if (missing.length === 0) return null;
  const cause = missing.find((entry) => entry instanceof SnapshotError);
  return new ApiError(502, { error: 'Chain data is not available' }, { cause });
}

/** Statuses that say nothing of the pool but that its price could not be read. */
const UNREAD: ReadonlySet<PriceProviderStatus> = new Set<PriceProviderStatus>(['internal_error', 'unknown']);

const NO_PLAN: Readonly<Record<NoPlan, string>> = {
  no_route: 'No eligible direct or one-hop path between the tokens',
  insufficient_liquidity: 'No candidate path has enough depth for the amount',
};

const noPlan = (code: NoPlan) => new ApiError(422, { code, error: NO_PLAN[code] });

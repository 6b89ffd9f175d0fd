import type { PriceProviderStatus } from '../../protocol/quote-status.ts';
import { choosePools } from '../../protocol/routing/choose-pools.ts';
import type { TradeType } from '../../protocol/routing/fill-curve.ts';
import { mapLegs, type PoolGraph, type TokenPath } from '../../protocol/routing/graph.ts';
import { type FoundPlan, findPlan, type NoPlan } from '../../protocol/routing/plan.ts';
import { type Hop, makeHop } from '../../protocol/routing/routes.ts';
import type { Candidate, ChainDepthEstimates } from '../../quoting/depth-estimates.ts';
import { type Chain, quotesOf } from '../../quoting/open-chain.ts';
import type { PoolDirectory, PoolTable, ServedPool } from '../../quoting/pools/pool-directory.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { DepthSnapshot, SnapshotMap } from '../../quoting/types.ts';
import type { Clocks } from '../../runtime/clock.ts';
import { jsonBody } from '../body.ts';
import { defineResource } from '../declaration/api-route.ts';
import { ApiError, badRequest } from '../errors.ts';
import { olderBlock, setBlockHeaders } from '../http/block-headers.ts';
import { readInOneState } from '../quotes/read-in-one-state.ts';
import { chainIdParam, servedChain } from '../request.ts';
import { Deadline } from './deadline.ts';
import { findRouteDeclaration } from './declaration.ts';
import { type GasOf, RouteGas } from './route-gas.ts';
import { RouteBody, type RouteRequest, toRouteRequest } from './route-request.ts';
import { routePlanBody } from './route-response.ts';

/** When an order is split, how much is read for it, and how long that may take. Tests set others. */
const LIMITS = {
  /** The best single route is not split while its price impact is below this, in millionths. */
  splitThresholdE6: 500,
  /** A split is returned only if it gains this much over the best single route, in millionths. */
  minImprovementE6: 100,
  /** The least part of an order for a route of a split, in millionths: a smaller one seldom pays for its gas. */
  minLegFractionE6: 20_000,
  /** Most pools that are read; a simulated one counts as five. Pools of one pair take at most a quarter. */
  maxPoolsPerRequest: 100,
  deadlineMs: 5_000,
  /** Longest wait for nodes to simulate swaps: gas that they have not said then is not known. */
  gasWaitMs: 1_000,
};

export type RouteLimits = typeof LIMITS;

/** What a route needs of a chain. */
type RouteQuotes = Pick<Chain, 'requested'> & { readonly snapshots: Pick<Chain['snapshots'], 'depths'> };
export type RoutedChain = Pick<Chain, 'chainId' | 'estimates' | 'swapGas'> &
  RouteQuotes & { readonly liveQuotes?: RouteQuotes | undefined };

export interface RouteDeps extends Pick<Clocks, 'now'> {
  readonly chains: ReadonlyMap<number, RoutedChain>;
  readonly directory: PoolDirectory;
  /** Limits that replace the usual ones, as in tests. */
  readonly limits?: Partial<RouteLimits>;
}

/** A plan and what its pools were read as. */
export type FoundRoute = FoundPlan<ServedPool> & {
  readonly snapshots: readonly DepthSnapshot[];
  readonly gasOf: GasOf;
};

/** `POST /public/v1/evm/{chain_id}/route`. */
export const routeResource = defineResource([findRouteDeclaration], (deps: RouteDeps) => ({
  async findRoute(c) {
    const chain = servedChain(deps.chains, chainIdParam(c));
    const request = toRouteRequest(await jsonBody(c, RouteBody));
    const quotes = quotesOf<RouteQuotes>(chain, request.basis);
    const limits = { ...LIMITS, ...deps.limits };
    const deadline = new Deadline(limits.deadlineMs, deps.now);
    const found = await findRoute({ ...deps, limits }, { ...chain, ...quotes }, request, deadline);
    setBlockHeaders(c, found.snapshots.map(({ block }) => block).reduce(olderBlock));
    const used = found.snapshots.map(({ pool }) => pool);
    quotes.requested.markRequested(used, 'depths', c.get('key') !== null);
    return c.json(routePlanBody(found, request));
  },
}));

type PlannedChain = Pick<RoutedChain, 'chainId' | 'estimates' | 'swapGas' | 'snapshots'>;

/**
 * Finds the plan for a request on the chain's current snapshots.
 *
 * @throws ApiError 400 when the named pool has other tokens, 422 when there is no plan, 502 when there is no plan and
 * chain data is missing, 503 when the deadline passes or the pools are not known
 */
async function findRoute(
  { directory, limits }: RouteDeps & { readonly limits: RouteLimits },
  chain: PlannedChain,
  request: RouteRequest,
  deadline: Deadline,
): Promise<FoundRoute> {
  const table = await deadline.within(directory.table());
  const paths = await pathsToRead(table, chain, request, limits.maxPoolsPerRequest);
  const pools = paths.flatMap(({ legs }) => legs.flat().map(({ pool }) => pool));
  if (pools.length === 0) throw noPlan('insufficient_liquidity');
  const read = () => chain.snapshots.depths(pools, { signal: deadline.signal });
  const snapshots = request.isOverridden ? (await readInOneState(read)).read : await read();
  deadline.check();
  chain.estimates.observe(pools, snapshots);
  const healthy = paths.flatMap((path) => healthyPath(path, snapshots, request.tradeType));
  const { gasPrice } = request;
  const gas = new RouteGas(chain.swapGas, snapshots, limits.gasWaitMs);
  const hops = healthy.flatMap(({ legs }) => legs.flat());
  const order = { ...request, costOf: gasPrice ? await gas.costOf(hops, gasPrice) : undefined };
  const found = findPlan(healthy, order, { ...limits, maxRoutes: request.maxRoutes }, deadline.check);
  if (typeof found !== 'string') {
    const gasOf = gasPrice ? await gas.simulated(found.plan, order) : gas.about;
    return { ...found, snapshots: usedSnapshots(found, snapshots), gasOf };
  }
  deadline.check();
  throw missingData(pools, snapshots) ?? noPlan(found);
}

/** Chooses the paths whose pools are read, legs near first. @throws ApiError 400 or 422 */
async function pathsToRead(
  table: PoolTable,
  { chainId, estimates }: PlannedChain,
  request: RouteRequest,
  maxReads: number,
): Promise<readonly TokenPath<Candidate>[]> {
  const { poolAddress } = request;
  const paths = poolAddress
    ? namedPool(table.find(chainId, poolAddress), estimates, request)
    : await choosePaths(table.graph(chainId), estimates, request, maxReads);
  if (!paths) throw noPlan('no_route');
  return paths;
}

function usedSnapshots({ plan }: FoundPlan<ServedPool>, snapshots: SnapshotMap<DepthSnapshot>): DepthSnapshot[] {
  const pools = plan.routes.flatMap(({ fills }) => fills.map(({ hop }) => hop.pool.address));
  return [...new Set(pools)].flatMap((pool) => {
    const snapshot = snapshots.get(pool);
    return snapshot && !(snapshot instanceof SnapshotError) ? [snapshot] : [];
  });
}

/** Chooses the paths with the pools to read, legs near first; null when there is no path. */
async function choosePaths(
  graph: PoolGraph<ServedPool>,
  estimates: ChainDepthEstimates,
  request: RouteRequest,
  maxReads: number,
): Promise<readonly TokenPath<Candidate>[] | null> {
  const paths = await estimates.candidatePaths(graph, request, maxReads);
  const order = { tradeType: request.tradeType, amount: Number(request.given) };
  return paths.length > 0 ? choosePools(paths, order, maxReads) : null;
}

/** The path of the one pool that the request names; null when that pool is not served. */
function namedPool(
  pool: ServedPool | undefined,
  estimates: ChainDepthEstimates,
  { tokenIn, tokenOut }: RouteRequest,
): readonly TokenPath<Candidate>[] | null {
  if (!pool) return null;
  const tokens = [pool.token0.address, pool.token1.address];
  if (!tokens.includes(tokenIn) || !tokens.includes(tokenOut)) {
    throw badRequest('poolAddress is not a pool of tokenIn and tokenOut');
  }
  return [{ legs: [[estimates.describe(pool, pool.token0.address === tokenIn)]] }];
}

/** Reduces a path to its healthy pools. Gives no path when a leg has none. */
function healthyPath(
  path: TokenPath<Candidate>,
  snapshots: SnapshotMap<DepthSnapshot>,
  tradeType: TradeType,
): readonly TokenPath<Hop<ServedPool>>[] {
  const hops = (leg: readonly Candidate[]) =>
    leg.flatMap(({ pool, zeroForOne }) => {
      const snapshot = snapshots.get(pool.address);
      if (!snapshot || snapshot instanceof SnapshotError || snapshot.status !== 'healthy') return [];
      return [makeHop(pool, zeroForOne, zeroForOne ? snapshot.depth.bids : snapshot.depth.asks, tradeType)];
    });
  const open = mapLegs(path, hops);
  return open.legs.every(({ length }) => length > 0) ? [open] : [];
}

/** The error when there is no plan and unread pools might have made one; null when all pools were read. */
function missingData(pools: readonly ServedPool[], snapshots: SnapshotMap<DepthSnapshot>): ApiError | null {
  const missing = pools.flatMap((pool) => {
    const entry = snapshots.get(pool.address);
    return !entry || entry instanceof SnapshotError || UNREAD.has(entry.status) ? [entry] : [];
  });
  if (missing.length === 0) return null;
  const cause = missing.find((entry) => entry instanceof SnapshotError);
  return new ApiError(502, { error: 'Chain data is not available' }, { cause });
}

/** Statuses that only say that the price of a pool could not be read. */
const UNREAD: ReadonlySet<PriceProviderStatus> = new Set<PriceProviderStatus>(['internal_error', 'unknown']);

const NO_PLAN: Readonly<Record<NoPlan, string>> = {
  no_route: 'No eligible direct or one-hop path between the tokens',
  insufficient_liquidity: 'No candidate path has enough depth for the amount',
};

const noPlan = (code: NoPlan) => new ApiError(422, { code, error: NO_PLAN[code] });

import type { OpenAPIHono } from '@hono/zod-openapi';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RoutePlan } from '../api/route/route-response.ts';
import { SqlPoolDirectory } from '../api/snapshots/sql-pool-directory.ts';
import { LimitsConfig } from '../config/limits-schema.ts';
import type { QuotesConfig } from '../config/quotes-schema.ts';
import { openDatabase } from '../db/connection.ts';
import { administer, swap } from '../devnet/actions.ts';
import { setFeedPrice, silenceFeed } from '../devnet/providers.ts';
import { type RpcProxy, startRpcProxy } from '../devnet/rpc-proxy.ts';
import { startServer } from '../runtime/http-server.ts';
import { createLogger } from '../runtime/logger.ts';
import { createDatabase } from './harness/database.ts';
import { chainConfig, eagerQuotes, priceX64, type QuoteWorld, startQuoteWorld } from './quotes/quote-world.ts';
import { fixedDirectory } from './quotes/served-pool.ts';
import {
  allPaths,
  bestPath,
  type Depths,
  expectPlan,
  type PlanRequest,
  readDepths,
  routeBody,
} from './route/plan-check.ts';
import { postRoute, routeApp } from './route/route-app.ts';
import { createRouteMarket, type PoolName, type RouteMarket, type TokenName } from './route/route-market.ts';

const CHAIN_ID = 31337;
const TRADED = ['WETH', 'USDC', 'WBTC', 'DAI'] as const;
/** USD of a whole token, roughly: to make orders of like sizes. */
const USD: Record<TokenName, number> = { WETH: 3_000, USDC: 1, WBTC: 60_000, DAI: 1, LONE: 2 };
const ORDER_USD = [0.5, 2_000, 15_000, 40_000, 300_000];
/** Pools that routing may use without being told. */
const OPEN: readonly PoolName[] = [
  ...(['wethUsdc', 'wethUsdcWide', 'usdcWeth', 'wethWbtc', 'wethWbtcThin', 'wbtcUsdc', 'wbtcUsdcOther'] as const),
  ...(['daiUsdc', 'daiWeth', 'guarded'] as const),
];

let world: QuoteWorld;
let market: RouteMarket;
let proxy: RpcProxy;
let app: OpenAPIHono;

beforeAll(async () => {
  world = await startQuoteWorld(CHAIN_ID);
  market = await createRouteMarket(world);
  proxy = await startRpcProxy(world.anvil.url);
  app = appOver([world.anvil.url]);
  const { chain, deployment } = world;
  await administer(chain, deployment, chain.roles.curator, 'pausePool', [market.pools.paused.address]);
  await silenceFeed(chain, deployment, market.pools.silent.feed, 'takeDown');
});

afterAll(async () => {
  await proxy?.stop();
  await world?.stop();
});

const directory = () => fixedDirectory(Object.values(market.pools).map(({ served }) => served));

function appOver(rpcUrls: readonly string[], quotes: QuotesConfig = eagerQuotes, change = {}): OpenAPIHono {
  return routeApp({ chain: chainConfig(CHAIN_ID, rpcUrls, change), directory: directory(), quotes });
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

const token = (name: TokenName) => market.tokens[name].address;
const pool = (name: PoolName) => market.pools[name].address;
const amountOf = (name: TokenName, usd: number) =>
  BigInt(Math.round((usd / USD[name]) * 1e6)) * 10n ** BigInt(market.tokens[name].decimals - 6);

function request(
  tokenIn: TokenName,
  tokenOut: TokenName,
  tradeType: PlanRequest['tradeType'],
  usd: number,
): PlanRequest {
  const amount = amountOf(tradeType === 'exact_in' ? tokenIn : tokenOut, usd);
  return { tokenIn: token(tokenIn), tokenOut: token(tokenOut), tradeType, amount };
}

/** Orders between all pairs of traded tokens, both trade types, all sizes. */
function allRequests(): PlanRequest[] {
  return TRADED.flatMap((tokenIn) =>
    TRADED.filter((name) => name !== tokenIn).flatMap((tokenOut) =>
      ORDER_USD.flatMap((usd) => [
        request(tokenIn, tokenOut, 'exact_in', usd),
        request(tokenIn, tokenOut, 'exact_out', usd),
      ]),
    ),
  );
}

const open = () => OPEN.map((name) => market.pools[name]);
const better = (tradeType: PlanRequest['tradeType'], a: bigint, b: bigint) =>
  tradeType === 'exact_in' ? a > b : a < b;
const foundOf = (plan: RoutePlan) => BigInt(plan.tradeType === 'exact_in' ? plan.amountOut : plan.amountIn);

describe('plans on a chain', () => {
  let depths: Depths;

  beforeAll(async () => {
    depths = await readDepths(app, open());
  });

  it('have every number derived from the depths that clients see, and beat or equal the best path', async () => {
    const shapes = new Set<string>();
    for (const asked of allRequests()) {
      const paths = allPaths(open(), asked.tokenIn, asked.tokenOut);
      const best = bestPath(depths, paths, asked);
      const answer = await postRoute(app, routeBody(asked));
      if (!best) {
        expect(answer).toMatchObject({ status: 422, body: { code: 'insufficient_liquidity' } });
        shapes.add('insufficient');
        continue;
      }
      expect(answer.status).toBe(200);
      const plan = expectPlan(answer.body, depths, asked);
      const single = asked.tradeType === 'exact_in' ? best.output : best.input;
      expect(better(asked.tradeType, single, foundOf(plan))).toBe(false);
      if (plan.routes.length > 1) expect(better(asked.tradeType, foundOf(plan), single)).toBe(true);
      else expect(foundOf(plan)).toBe(single);
      expect(Math.round(Number(plan.priceImpactBestRoute) * 1e6)).toBe(Number(best.impactE6));
      expect(plan.candidatesConsidered).toBe(paths.length);
      shapes.add(plan.routes.length > 1 ? 'split' : (plan.routes[0]?.routeType ?? ''));
    }
    expect([...shapes].sort()).toEqual(['direct', 'insufficient', 'one_hop', 'split']);
  });

  it('have no more routes than asked for', async () => {
    const asked = request('WETH', 'USDC', 'exact_in', 40_000);
    const counts: number[] = [];
    for (const maxRoutes of [0, 1, 2, 3, 4, 9]) {
      const { body } = await postRoute(app, { ...routeBody(asked), maxRoutes });
      counts.push(expectPlan(body, depths, asked).routes.length);
    }
    const [zero, one, two, three, four, nine] = counts;
    expect([zero, one]).toEqual([1, 1]);
    expect(two).toBe(2);
    expect(three).toBeGreaterThanOrEqual(2);
    expect(four).toBeLessThanOrEqual(4);
    expect(nine).toBe(four);
  });

  it('stay with the best path below the split threshold', async () => {
    const chain = chainConfig(CHAIN_ID, [world.anvil.url]);
    const calm = routeApp({ chain, directory: directory(), routing: { splitThresholdE6: 1_000_000 } });
    const asked = request('WETH', 'USDC', 'exact_in', 40_000);
    const { body } = await postRoute(calm, routeBody(asked));
    expect(expectPlan(body, depths, asked).routes).toHaveLength(1);
  });

  it('go through the named pool alone', async () => {
    const asked = request('USDC', 'WETH', 'exact_in', 2_000);
    const { status, body } = await postRoute(app, { ...routeBody(asked), poolAddress: pool('wethUsdcWide') });
    expect(status).toBe(200);
    const plan = expectPlan(body, depths, asked);
    expect(plan.candidatesConsidered).toBe(1);
    expect(plan.routes.map(({ legs }) => legs.map(({ poolAddress }) => poolAddress))).toEqual([[pool('wethUsdcWide')]]);
  });

  it('spell addresses in lower case, however they were sent', async () => {
    const asked = request('WETH', 'USDC', 'exact_in', 2_000);
    const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`;
    const sent = { ...routeBody(asked), tokenIn: upper(asked.tokenIn), tokenOut: upper(asked.tokenOut) };
    const { body } = await postRoute(app, { ...sent, poolAddress: upper(pool('wethUsdc')) });
    expectPlan(body, depths, asked);
  });
});

describe('pools that are not open to anyone', () => {
  const noRoute = { status: 422, body: { code: 'no_route', error: expect.any(String) } };
  const lone = (tokenOut: TokenName) => routeBody(request('LONE', tokenOut, 'exact_in', 10));

  it.each([
    ['paused', 'USDC'],
    ['silent', 'DAI'],
    ['allowlisted', 'WBTC'],
    ['custom', 'WETH'],
  ] as const)('the %s pool is no candidate', async (_name, tokenOut) => {
    expect(await postRoute(app, lone(tokenOut))).toEqual(noRoute);
  });

  it.each([
    ['allowlisted', 'WBTC'],
    ['custom', 'WETH'],
  ] as const)('the %s pool is used when it is named', async (name, tokenOut) => {
    const { status, body } = await postRoute(app, { ...lone(tokenOut), poolAddress: pool(name) });
    expect(status).toBe(200);
    expect(body).toMatchObject({ candidatesConsidered: 1, routes: [{ legs: [{ poolAddress: pool(name) }] }] });
  });

  it.each([
    ['paused', 'USDC'],
    ['silent', 'DAI'],
  ] as const)('the %s pool is not used even when it is named', async (name, tokenOut) => {
    expect(await postRoute(app, { ...lone(tokenOut), poolAddress: pool(name) })).toEqual(noRoute);
  });
});

describe('refusals', () => {
  const valid = () => routeBody(request('WETH', 'USDC', 'exact_in', 100));

  it.each([
    ['a body that is not JSON', '{"tokenIn":', 400, { error: 'Invalid request body: not JSON' }],
    ['an empty body', '', 400, { error: 'Invalid request body: the body is empty' }],
    ['another shape', '[]', 400, { error: expect.stringContaining('Invalid request body: ') }],
  ])('of %s', async (_name, body, status, expected) => {
    expect(await postRoute(app, body)).toEqual({ status, body: expected });
  });

  it('of bad values, with the reason', async () => {
    const refused = (fields: object) => postRoute(app, { ...valid(), ...fields });
    const because = (reason: string) => ({ status: 400, body: { error: `Invalid request body: ${reason}` } });
    expect(await refused({ tokenOut: token('WETH') })).toEqual(because('tokenIn and tokenOut are the same'));
    expect(await refused({ tokenIn: `0x${'0'.repeat(40)}` })).toEqual(because('tokenIn: the zero address'));
    expect(await refused({ amountIn: '0' })).toEqual(because('amountIn: not positive'));
    expect(await refused({ tradeType: 'exact_out' })).toEqual(because('exact_out needs amountOut'));
    expect(await refused({ tradeType: undefined, amountOut: '1' })).toEqual(
      because('tradeType is required with both amounts'),
    );
  });

  it('of a named pool with other tokens, and of one that is not known', async () => {
    const error = 'poolAddress is not a pool of tokenIn and tokenOut';
    expect(await postRoute(app, { ...valid(), poolAddress: pool('daiUsdc') })).toEqual({
      status: 400,
      body: { error },
    });
    const unknown = await postRoute(app, { ...valid(), poolAddress: token('WETH') });
    expect(unknown).toMatchObject({ status: 422, body: { code: 'no_route' } });
  });

  it('of tokens without a path, and of amounts beyond the depth', async () => {
    const stranger = `0x${'12'.repeat(20)}`;
    const none = await postRoute(app, { ...valid(), tokenOut: stranger });
    expect(none).toMatchObject({ status: 422, body: { code: 'no_route', error: expect.any(String) } });
    const most = await postRoute(app, { ...valid(), amountIn: '9'.repeat(78) });
    expect(most).toMatchObject({ status: 422, body: { code: 'insufficient_liquidity', error: expect.any(String) } });
    const nothing = await postRoute(app, { ...valid(), amountIn: '1' });
    expect(nothing).toMatchObject({ status: 422, body: { code: 'insufficient_liquidity' } });
  });

  it('of a bad key before all else, of a chain id that is none, of a chain that is not served', async () => {
    const headers = { Authorization: 'Bearer revoked' };
    const unauthorised = await postRoute(app, 'x', { chainId: 'x', headers });
    expect(unauthorised).toEqual({ status: 401, body: { error: 'Invalid API key' } });
    expect(await postRoute(app, 'x', { chainId: 'x' })).toMatchObject({ status: 400 });
    const unknown = { status: 404, body: { error: 'Unknown chainId: 5' } };
    expect(await postRoute(app, 'x', { chainId: '5' })).toEqual(unknown);
    const keyed = await postRoute(app, valid(), { headers: { Authorization: 'Bearer good' } });
    expect(keyed.status).toBe(200);
  });
});

it('is limited, less so with a key', async () => {
  const quota = (requests: number) => ({ requests, windowSecs: 60 });
  const limited = routeApp({
    chain: chainConfig(CHAIN_ID, [world.anvil.url]),
    directory: directory(),
    limits: LimitsConfig.parse({ route: { anonymous: quota(1), keyed: quota(2) } }),
  });
  const server = await startServer(limited, '127.0.0.1', 0);
  const url = `http://127.0.0.1:${server.port}/public/v1/evm/${CHAIN_ID}/route`;
  const send = (headers = {}) => fetch(url, { method: 'POST', headers });
  const key = { Authorization: 'Bearer good' };
  const answers = [await send(), await send(), await send(key), await send(key), await send(key)];
  await server.stop(1_000);
  expect(answers.map(({ status }) => status)).toEqual([400, 429, 400, 400, 429]);
  expect(Number(answers[1]?.headers.get('Retry-After'))).toBeGreaterThan(0);
});

describe('when something is away', () => {
  const body = () => routeBody(request('WETH', 'USDC', 'exact_in', 100));
  const unavailable = { status: 503, body: { error: 'Service temporarily unavailable' } };

  it('answers 502 while no node answers, and recovers', async () => {
    const fragile = appOver([proxy.url]);
    proxy.misbehave({ kind: 'down' });
    expect(await postRoute(fragile, body())).toEqual({ status: 502, body: { error: 'Chain data is not available' } });
    proxy.misbehave(null);
    await expect.poll(async () => (await postRoute(fragile, body())).status, { timeout: 15_000 }).toBe(200);
  });

  it('stops at the deadline of 5 seconds', async () => {
    const slow = { rpcTimeoutMs: 20_000, readTimeoutMs: 20_000, ethereumReadTimeoutMs: 20_000, waitTimeoutMs: 20_000 };
    const patient = appOver([proxy.url], { ...eagerQuotes, ...slow });
    proxy.misbehave({ kind: 'silent' });
    const start = performance.now();
    expect(await postRoute(patient, body())).toEqual(unavailable);
    const seconds = (performance.now() - start) / 1_000;
    expect(seconds).toBeGreaterThan(4.9);
    expect(seconds).toBeLessThan(7);
    proxy.misbehave({ kind: 'down' });
  });

  it('answers 503 without a database, 500 when the database makes no sense', async () => {
    const chain = chainConfig(CHAIN_ID, [world.anvil.url]);
    const logger = createLogger('test', 'silent');
    const odd = await createDatabase();
    await query(odd.url, 'CREATE SCHEMA read_model CREATE TABLE pool () CREATE TABLE delisted_pool ()');
    for (const [url, expected] of [
      ['postgres://127.0.0.1:1/away', unavailable],
      [odd.url, { status: 500, body: { error: 'Internal server error' } }],
    ] as const) {
      const database = openDatabase(url, logger);
      const pools = new SqlPoolDirectory({ database, chains: [chain], logger });
      expect(await postRoute(routeApp({ chain, directory: pools }), body())).toEqual(expected);
      pools.stop();
      await database.$client.end();
    }
    await odd.drop();
  });
});

describe('a side that a guard has closed', () => {
  it('has no depth for routes, while the other side trades', async () => {
    const { chain, deployment } = world;
    const { address, feed } = market.pools.guarded;
    const amountSpecified = amountOf('WETH', 300);
    // Swaps both ways record the watermarks; then the pool's own feed falls by more than the allowed tenth.
    for (const zeroForOne of [true, false]) {
      await swap(chain, deployment, {
        pool: address,
        zeroForOne,
        amountSpecified: zeroForOne ? amountSpecified : -amountSpecified,
      });
    }
    await setFeedPrice(chain, deployment, { feedId: feed, priceX64: priceX64(2_600) });
    const through = (asked: PlanRequest) => postRoute(app, { ...routeBody(asked), poolAddress: address });
    expect((await through(request('WETH', 'DAI', 'exact_in', 100))).status).toBe(200);
    const closed = await through(request('DAI', 'WETH', 'exact_in', 100));
    expect(closed).toMatchObject({ status: 422, body: { code: 'insufficient_liquidity' } });
    const asked = request('DAI', 'WETH', 'exact_in', 100);
    const { body } = await postRoute(app, routeBody(asked));
    const plan = expectPlan(body, await readDepths(app, open()), asked);
    expect(plan.routes.flatMap(({ legs }) => legs.map(({ poolAddress }) => poolAddress))).not.toContain(address);
  });
});

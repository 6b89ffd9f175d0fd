import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { LimitsConfig } from '../../config/limits-schema.ts';
import { openDatabase } from '../../db/connection.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { PoolCatalog } from '../../quoting/pools/pool-catalog.ts';
import { startServer } from '../../runtime/http-server.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createDatabase } from '../harness/database.ts';
import { openWorld } from '../harness/open-world.ts';
import { expectBlockHeaders } from '../quotes/expect-block-headers.ts';
import { chainConfig } from '../quotes/quote-world.ts';
import { routeBody } from './plan-check.ts';
import { orderBetween } from './requests.ts';
import { postRoute, postRouteText, routeApp } from './route-app.ts';
import type { TokenName } from './route-market.ts';
import { routeWorld } from './route-world.ts';

const CHAIN_ID = 31337;
const world = routeWorld();
const behind = openWorld(async (ends) => {
  const proxy = await startRpcProxy(world.anvil.url);
  ends.defer(proxy.stop);
  return { proxy, chain: chainConfig(CHAIN_ID, [proxy.url]) };
});

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

const token = (name: TokenName) => world.market.tokens[name].address;
const order = (tokenIn: TokenName, tokenOut: TokenName, usd: number) =>
  routeBody(orderBetween(world.market, tokenIn, tokenOut, 'exact_in', usd));

it('reports the block of the plan', async () => {
  const answer = await world.app.request(`/public/v1/evm/${CHAIN_ID}/route`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(order('WETH', 'USDC', 100)),
  });
  expect(answer.status).toBe(200);
  await expectBlockHeaders(answer.headers, world.chain.client);
});

describe('pools that are not open to anyone', () => {
  const noRoute = { status: 422, body: { code: 'no_route', error: expect.any(String) } };
  const lone = (tokenOut: TokenName) => order('LONE', tokenOut, 10);

  it.each([
    ['paused', 'USDC'],
    ['silent', 'DAI'],
    ['allowlisted', 'WBTC'],
    ['custom', 'WETH'],
  ] as const)('the %s pool is no candidate', async (_name, tokenOut) => {
    expect(await postRoute(world.app, lone(tokenOut))).toEqual(noRoute);
  });

  it.each([
    ['allowlisted', 'WBTC'],
    ['custom', 'WETH'],
  ] as const)('the %s pool is used when it is named', async (name, tokenOut) => {
    const { status, body } = await postRoute(world.app, { ...lone(tokenOut), poolAddress: world.pool(name) });
    expect(status).toBe(200);
    expect(body).toMatchObject({ candidatesConsidered: 1, routes: [{ legs: [{ poolAddress: world.pool(name) }] }] });
  });

  it.each([
    ['paused', 'USDC'],
    ['silent', 'DAI'],
  ] as const)('the %s pool is not used even when it is named', async (name, tokenOut) => {
    expect(await postRoute(world.app, { ...lone(tokenOut), poolAddress: world.pool(name) })).toEqual(noRoute);
  });
});

describe('refusals', () => {
  const valid = () => order('WETH', 'USDC', 100);

  it.each([
    ['a body that is not JSON', '{"tokenIn":', 400, { error: expect.stringContaining('Invalid request body: ') }],
    ['an empty body', '', 400, { error: expect.stringContaining('Invalid request body: ') }],
    [
      'a key that is there twice',
      '{"amountIn":"1","amountIn":"2"}',
      400,
      { error: expect.stringContaining("Duplicate key 'amountIn'") },
    ],
    ['another shape', '[]', 400, { error: expect.stringContaining('Invalid request body: ') }],
  ])('of %s', async (_name, body, status, expected) => {
    expect(await postRouteText(world.app, body)).toEqual({ status, body: expected });
  });

  it('of bad values, with the reason', async () => {
    const rejected = (fields: object) => postRoute(world.app, { ...valid(), ...fields });
    const because = (error: string) => ({ status: 400, body: { error } });
    expect(await rejected({ tokenOut: token('WETH') })).toEqual(
      because('tokenIn and tokenOut must be different tokens'),
    );
    expect(await rejected({ tokenIn: `0x${'0'.repeat(40)}` })).toEqual(because('tokenIn must not be the zero address'));
    expect(await rejected({ amountIn: '0' })).toEqual(
      because('amountIn must be a positive base-10 integer of at most 78 digits'),
    );
    expect(await rejected({ tradeType: 'exact_out' })).toEqual(because('amountOut is required for exact_out'));
    expect(await rejected({ tradeType: null, amountOut: '1' })).toEqual(
      because('tradeType is required when both amountIn and amountOut are sent'),
    );
  });

  it('of a named pool with other tokens, and of one that is not known', async () => {
    const error = 'poolAddress is not a pool of tokenIn and tokenOut';
    expect(await postRoute(world.app, { ...valid(), poolAddress: world.pool('daiUsdc') })).toEqual({
      status: 400,
      body: { error },
    });
    const unknown = await postRoute(world.app, { ...valid(), poolAddress: token('WETH') });
    expect(unknown).toMatchObject({ status: 422, body: { code: 'no_route' } });
  });

  it('of tokens without a path, and of amounts beyond the depth', async () => {
    const untrusted = `0x${'12'.repeat(20)}`;
    const none = await postRoute(world.app, { ...valid(), tokenOut: untrusted });
    expect(none).toMatchObject({ status: 422, body: { code: 'no_route', error: expect.any(String) } });
    const most = await postRoute(world.app, { ...valid(), amountIn: '9'.repeat(78) });
    expect(most).toMatchObject({ status: 422, body: { code: 'insufficient_liquidity', error: expect.any(String) } });
    const nothing = await postRoute(world.app, { ...valid(), amountIn: '1' });
    expect(nothing).toMatchObject({ status: 422, body: { code: 'insufficient_liquidity' } });
  });

  it('of a bad key before all else, of a chain id that is none, of a chain that is not served', async () => {
    const headers = { Authorization: 'Bearer revoked' };
    const unauthorised = await postRouteText(world.app, 'x', { chainId: 'x', headers });
    expect(unauthorised).toEqual({ status: 401, body: { error: 'Invalid API key' } });
    expect(await postRouteText(world.app, 'x', { chainId: 'x' })).toMatchObject({ status: 400 });
    const unknown = { status: 404, body: { error: 'Unknown chainId: 5' } };
    expect(await postRouteText(world.app, 'x', { chainId: '5' })).toEqual(unknown);
    const keyed = await postRoute(world.app, valid(), { apiKey: 'good' });
    expect(keyed.status).toBe(200);
  });
});

it('is limited, less so with a key', async () => {
  const quota = (requests: number) => ({ requests, windowSecs: 60 });
  const limited = world.appWith({
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

describe('when something is unreachable', () => {
  const body = () => order('WETH', 'USDC', 100);
  const unavailable = { status: 503, body: { error: 'Service temporarily unavailable' } };

  it('answers 502 while no node answers, and recovers', async () => {
    const fragile = world.appWith({ chain: behind.chain });
    behind.proxy.misbehave({ kind: 'down' });
    expect(await postRoute(fragile, body())).toEqual({ status: 502, body: { error: 'Chain data is not available' } });
    behind.proxy.misbehave(null);
    await expect.poll(async () => (await postRoute(fragile, body())).status).toBe(200);
  });

  it('stops at the deadline of 5 seconds', async () => {
    const slow = world.appWith({ chain: behind.chain });
    behind.proxy.misbehave({ kind: 'hanging' });
    const start = performance.now();
    expect(await postRoute(slow, body())).toEqual(unavailable);
    const seconds = (performance.now() - start) / 1_000;
    expect(seconds).toBeGreaterThan(4.9);
    expect(seconds).toBeLessThan(12);
    behind.proxy.misbehave({ kind: 'down' });
  });

  it('answers 503 without a database, 500 when the database makes no sense', async () => {
    const chain = chainConfig(CHAIN_ID, [world.anvil.url]);
    const logger = createLogger('test', 'silent');
    const odd = await createDatabase();
    await query(
      odd.url,
      'CREATE SCHEMA read_model CREATE TABLE pool () CREATE TABLE pool_extension (); CREATE SCHEMA operator CREATE TABLE delisted_pool ()',
    );
    for (const [url, expected] of [
      ['postgres://127.0.0.1:1/away', unavailable],
      [odd.url, { status: 500, body: { error: 'Internal server error' } }],
    ] as const) {
      const database = openDatabase(url, 'ptd_api', logger);
      const pools = new PoolCatalog({ database, chains: [chain], logger, now: () => performance.now() });
      expect(await postRoute(routeApp({ chain, directory: pools }), body())).toEqual(expected);
      pools.stop();
      await database.$client.end();
    }
    await odd.drop();
  });
});

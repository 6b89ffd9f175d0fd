import { gunzipSync } from 'node:zlib';
import type { Address } from 'viem';
import { describe, expect, test } from 'vitest';
import { BLOCK_HEADERS } from '../../api/http/block-headers.ts';
import { administer } from '../../devnet/actions.ts';
import { evenBins } from '../../devnet/pools.ts';
import { deployManualProvider, silenceFeed } from '../../devnet/providers.ts';
import { expectBlockHeaders } from './expect-block-headers.ts';
import { poolBehind } from './hostile-pools.ts';
import { apiOf } from './quote-api.ts';
import { makePool, quoteWorld } from './quote-world.ts';

const CLOSED_ASK = ((1n << 128n) - 1n).toString();
const UNAVAILABLE = { bidAdj: '0', askAdj: CLOSED_ASK };
const UNKNOWN: Address = `0x${'77'.repeat(20)}`;

const world = quoteWorld(async (on) => {
  const { chain, deployment } = on;
  const pair = await on.pair(6, 18);
  const spec = { pair, price: 0.5, bins: evenBins(-2, 2, 1_000) };
  const make = () => makePool(on, spec);
  const [healthy, down, paused, pausedDown] = [await make(), await make(), await make(), await make()];
  const empty = await makePool(on, { ...spec, shares: new Map() });
  const deep = await makePool(on, { ...spec, bins: evenBins(-30, 30, 100) });
  await silenceFeed(chain, deployment, down.feed, 'takeDown');
  await silenceFeed(chain, deployment, pausedDown.feed, 'takeDown');
  for (const { address } of [paused, pausedDown]) {
    await administer(chain, deployment, { from: chain.roles.curator, functionName: 'pausePool', args: [address] });
  }
  const quoting = async (bidX64: bigint, askX64: bigint) =>
    poolBehind(on, pair, await deployManualProvider(chain, pair, { bidX64, askX64 }));
  const one = 1n << 64n;
  const crossed = await quoting(one, one);
  const zeroBid = await quoting(0n, one);
  // The price of buying at a spread this wide is more than a price can be: the pool's arithmetic panics.
  const panicking = await quoting(1n, (1n << 128n) - 1n);
  const pools = {
    healthy: healthy.address,
    down: down.address,
    crossed,
    zeroBid,
    panicking,
    paused: paused.address,
    pausedDown: pausedDown.address,
    empty: empty.address,
    deep: deep.address,
  };
  return { pools, api: await apiOf(on, Object.values(pools)) };
});

const path = (pool: string, query = '', chainId = '31337') => `/public/v1/evm/${chainId}/${pool}/bid_ask${query}`;

describe('statuses', () => {
  test.each([
    ['down', 'feed_down'],
    ['crossed', 'pool_refused'],
    ['zeroBid', 'pool_refused'],
    ['panicking', 'unknown'],
    ['paused', 'pool_paused'],
    ['pausedDown', 'feed_down'],
  ] as const)('of the pool "%s": %s, with both sentinels and empty lists', async (name, priceProviderStatus) => {
    const expected = { ...UNAVAILABLE, priceProviderStatus };
    expect(await world.api.quote(world.pools[name])).toMatchObject({ ...expected, depth: { bids: [], asks: [] } });
    expect(await world.api.quote(world.pools[name], false)).toMatchObject({ ...expected, depth: null });
  });

  test('of a healthy pool: real prices, balances and a time of now', async () => {
    const quote = await world.api.quote(world.pools.healthy);
    expect(quote.priceProviderStatus).toBe('healthy');
    expect(quote.pair).toBe('AAA/BBB');
    expect(BigInt(quote.bidAdj)).toBeGreaterThan(0n);
    expect(BigInt(quote.askAdj)).toBeGreaterThan(BigInt(quote.bidAdj));
    expect([quote.totalToken0Available, quote.totalToken1Available]).toEqual(['3000000', '1000000000000000000']);
    // In seconds; an earlier test may have read the block.
    expect(Math.abs(quote.serverTs - Date.now() / 1_000)).toBeLessThan(3_600);
  });

  test('of a pool without liquidity: healthy, with levels of no volume', async () => {
    const quote = await world.api.quote(world.pools.empty);
    expect(quote.priceProviderStatus).toBe('healthy');
    expect(quote.depth?.bids.map(({ binIdx, cumulativeVolume }) => [binIdx, cumulativeVolume])).toEqual([
      [0, '0'],
      [-1, '0'],
      [-2, '0'],
    ]);
  });
});

describe('the single endpoint refuses', () => {
  test.each([
    ['an address that is too short', path('0x12'), 'Invalid pool address format'],
    ['an address that is too long', path(`${UNKNOWN}00`), 'Invalid pool address format'],
    ['a short address with the prefix in upper case', path('0X12'), 'Invalid pool address format'],
    ['an address without prefix', path(UNKNOWN.slice(2)), 'pool_address is not a valid EVM address'],
    ['a chain id that is no number', path(UNKNOWN, '', 'base'), 'chain_id must be an integer'],
  ])('%s with 400', async (_name, url, error) => {
    const answer = await world.api.request(url);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, { error }]);
  });

  test.each(['?depth=yes', '?depth=', '?depth=True', '?depth=1'])('%s with 400 in plain text', async (query) => {
    const answer = await world.api.request(path(UNKNOWN, query));
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/^Failed to deserialize query string: /);
    expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/);
  });

  test('what it does not serve with 404, naming the chain or the pool', async () => {
    const chain = await world.api.request(path(UNKNOWN, '', '999'));
    expect([chain.status, JSON.parse(chain.text)]).toEqual([404, { error: 'Unknown chainId: 999' }]);
    const pool = await world.api.request(path(UNKNOWN.toUpperCase()));
    expect([pool.status, JSON.parse(pool.text)]).toEqual([404, { error: `Pair metadata not found for ${UNKNOWN}` }]);
  });

  test('a key that is not known with 401, before anything else', async () => {
    const answer = await world.api.request(path('0x12'), { headers: { Authorization: 'Bearer bad' } });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([401, { error: 'Invalid API key' }]);
    expect(
      (await world.api.request(path(world.pools.healthy), { headers: { Authorization: 'Bearer good' } })).status,
    ).toBe(200);
  });

  test('nothing for the case of an address', async () => {
    const answer = await world.api.request(path(world.pools.healthy.toUpperCase()));
    expect(JSON.parse(answer.text)).toMatchObject({ poolAddress: world.pools.healthy });
  });
});

test('every answer reports the block that it was read at, and how old that is', async () => {
  const { client } = world.chain;
  for (const name of ['healthy', 'down', 'deep'] as const) {
    await expectBlockHeaders((await world.api.request(path(world.pools[name]))).headers, client);
  }
  await expectBlockHeaders(
    (await world.api.batch({ pools: [world.pools.empty, UNKNOWN, world.pools.healthy] })).headers,
    client,
  );
  const nothing = await world.api.batch({ pools: [UNKNOWN] });
  expect([nothing.status, nothing.headers.get('X-Block-Number')]).toEqual([200, null]);
  const unknown = await world.api.request(path(UNKNOWN));
  expect([unknown.status, unknown.headers.get('X-Block-Age-Ms')]).toEqual([404, null]);
  expect(unknown.headers.get('Access-Control-Expose-Headers')?.split(',')).toEqual(
    expect.arrayContaining([...BLOCK_HEADERS]),
  );
});

test('a long quote is compressed for clients that accept it, and says that this depends on the request', async () => {
  const ask = (encoding: string) => world.api.raw(path(world.pools.deep), { headers: { 'Accept-Encoding': encoding } });
  for (const rejected of ['identity', 'gzip;q=0']) {
    expect((await ask(rejected)).headers.get('Content-Encoding')).toBeNull();
  }
  const plain = await (await ask('identity')).text();
  const response = await ask('br, gzip');
  expect([response.headers.get('Content-Encoding'), response.headers.get('Vary')]).toEqual(['gzip', 'Accept-Encoding']);
  expect(gunzipSync(await response.arrayBuffer()).toString()).toBe(plain);
});

describe('a batch', () => {
  test.each([
    ['no pools', { pools: [] }, 'pools must name at least one pool address'],
    [
      '101 pools',
      { pools: Array(101).fill(UNKNOWN) },
      'pools names 101 addresses; at most 100 are allowed per request',
    ],
    ['a bad entry', { pools: [UNKNOWN, '0x1'] }, 'pools[1] is not a valid pool address'],
    ['an entry without prefix', { pools: [UNKNOWN.slice(2)] }, 'pools[0] is not a valid pool address'],
  ])('is refused with 400 for %s', async (_name, body, error) => {
    const answer = await world.api.batch(body);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, { error }]);
  });

  test.each([
    ['invalid JSON', '{"pools":'],
    ['a body that is empty', ''],
    ['missing pools', {}],
    ['an unknown field', { pools: [UNKNOWN], limit: 1 }],
    ['a depth that is no boolean', { pools: [UNKNOWN], depth: 'true' }],
    ['an entry that is no string', { pools: [1] }],
    ['a key that has two values', `{"pools":["${UNKNOWN}"],"pools":[]}`],
  ])('is refused with 400 "Invalid request body" for %s', async (_name, body) => {
    const answer = await world.api.batch(body);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).error).toMatch(/^Invalid request body: .+/);
  });

  test('keeps order and spelling, and quotes a repeated address once, where it came first', async () => {
    const shouted = world.pools.healthy.toUpperCase();
    const results = await world.api.results([
      world.pools.down,
      shouted,
      UNKNOWN,
      world.pools.healthy,
      world.pools.down,
    ]);
    expect(results.map(({ poolAddress }) => poolAddress)).toEqual([world.pools.down, shouted, UNKNOWN]);
    expect(results[1]).toMatchObject({ quote: { poolAddress: world.pools.healthy, priceProviderStatus: 'healthy' } });
    expect(results[2]).toEqual({
      poolAddress: UNKNOWN,
      error: { status: 404, error: `Pair metadata not found for ${UNKNOWN}` },
    });
  });

  test('takes null for depth as absent', async () => {
    const [absent, nothing] = [
      await world.api.batch({ pools: [world.pools.empty] }),
      await world.api.batch({ pools: [world.pools.empty], depth: null }),
    ];
    expect(nothing.status).toBe(200);
    const depthOf = ({ text }: { readonly text: string }) => JSON.parse(text).results[0].quote.depth;
    expect(depthOf(nothing).bids.length).toBeGreaterThan(0);
    expect(depthOf(nothing)).toEqual(depthOf(absent));
  });

  test('holds a pool without a feed price as a quote, and depth only when it is asked for', async () => {
    const [result] = await world.api.results([world.pools.down], false);
    expect(result).toMatchObject({ quote: { ...UNAVAILABLE, priceProviderStatus: 'feed_down', depth: null } });
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { QuoteUpdate } from '../../devnet/live/maker.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { stringifyJson } from '../../runtime/json.ts';
import { startedWorld } from '../harness/open-world.ts';
import { batchesOf, startLiveStream, startLiveWorld, updateAll, waitForUpdates } from '../live/live-world.ts';
import { expectBlockHeaders } from '../quotes/expect-block-headers.ts';
import { longTimeouts } from '../quotes/quote-world.ts';
import { rejectedUpgrade } from '../stream/ws-client.ts';
import { DECODERS, decodeBap710Frame, decodeBuilderFrame, pricedPairs } from './decoders.ts';
import { connectTexts, type TextClient } from './levels-client.ts';

const world = startedWorld(() => startLiveWorld({ flatPools: 2, packedPools: 1 }));
/** The node of a busy machine answers in time. */
const quotes = { ...longTimeouts, minRefreshMs: 50 };
const api = startedWorld(() => startLiveStream(world, { quotes }));

const asked = batchesOf(api);

const named = () => world.market.pools.map(({ address }) => address).join();
const urlOf = (query: string, at = api) => `${at.base}/price_levels?${query}`;
const until = (what: string, isTrue: () => boolean | Promise<boolean>) =>
  expect.poll(isTrue, { interval: 10, message: what }).toBe(true);
/** A frame whose pools were all read in the block being built: what nodes do not give in time is of the last block. */
const liveFrame = () =>
  vi.waitFor(async () => {
    const response = await fetch(urlOf(`pools=${named()}`));
    expect(response.headers.get('X-Quote-Basis')).toBe('live');
    return response;
  });
const textsOf = ({ texts }: TextClient) => texts.map(({ text }) => text);
const byeOf = (client: TextClient) => JSON.parse(textsOf(client).at(-1) ?? '{}') as object;
/** When frames were made: a busy machine reads them late. */
const madeAt = (client: TextClient) => textsOf(client).map((text) => decodeBuilderFrame(text).madeAt);
const gaps = (client: TextClient) => {
  const times = madeAt(client);
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
};

test('a frame comes each second, at most four come with changes, and every one is complete', async () => {
  const { market } = world;
  const { builder } = market;
  const client = await connectTexts(urlOf(`pools=${named()}`));
  // The first ones may come with changes, when pools are read; a busy machine delays some.
  await until('frames a second apart', () => {
    const last = gaps(client).slice(-3);
    return last.length === 3 && last.every((gap) => gap > 700 && gap < 1_500);
  });
  const countsOf = () => textsOf(client).map((text) => decodeBuilderFrame(text).pairs.length);
  const whole = 2 * market.pools.length;
  // Before their first prices the pools are not healthy. Once these land, pools have one where no source is heard.
  await updateAll(market, () => 190n);
  builder.setLanding('every');
  await builder.buildBlock();
  builder.setLanding('with-trade');
  const landed = builder.block().number;
  await until('all pools', () => {
    const { blockNumber, pairs } = decodeBuilderFrame(textsOf(client).at(-1) ?? '');
    return blockNumber >= landed && pairs.length === whole;
  });
  client.texts.splice(0);
  let updates: readonly QuoteUpdate[] = [];
  // A busy machine makes changes late, and some together.
  const comesWithChange = () => gaps(client).some((gap) => gap < 900);
  for (let turn = 0n; client.texts.length < 15 || !comesWithChange(); turn += 1n) {
    updates = await updateAll(market, () => 190n + (turn % 30n));
    // biome-ignore lint/plugin: changes come faster than frames may.
    await sleep(60);
  }
  const [first = 0, ...others] = madeAt(client);
  expect(others.length).toBeLessThanOrEqual(Math.ceil((4 * ((others.at(-1) ?? 0) - first)) / 1_000));
  await waitForUpdates(world, updates, asked);
  const shown = pricedPairs(decodeBuilderFrame(await (await liveFrame()).text()));
  await until('the last prices', () => {
    const pairs = pricedPairs(decodeBuilderFrame(textsOf(client).at(-1) ?? ''));
    return stringifyJson(pairs) === stringifyJson(shown);
  });
  expect(countsOf()).toEqual(countsOf().map(() => whole));
});

test('a block that lands is in the next frame at once', async () => {
  const { builder } = world.market;
  const client = await connectTexts(urlOf(`pools=${named()}&format=bap710&basis=committed`));
  await updateAll(world.market, () => 200n);
  await until('a frame', () => client.texts.length > 0);
  const { number } = builder.block();
  await builder.buildBlock({});
  await until('the next block', () => decodeBap710Frame(textsOf(client).at(-1) ?? '').blockNumber === number + 1n);
});

test('a frame is made once for all clients with the same query', async () => {
  const clients = await Promise.all([1, 2, 3].map(() => connectTexts(urlOf(`pools=${named()}`))));
  await updateAll(world.market, () => 201n);
  /** Frames from the first to the last one that all got: clients do not join and hear at the same moment. */
  const common = () => {
    const all = clients.map(textsOf);
    const shared = all[0]?.filter((text) => all.every((texts) => texts.includes(text))) ?? [];
    const [from = '', to = ''] = [shared[0], shared.at(-1)];
    return { shared, all: all.map((texts) => texts.slice(texts.indexOf(from), texts.indexOf(to) + 1)) };
  };
  // Frames have the time when they were made, so that two of them are never the same.
  await until('the same frames', () => common().shared.length > 3);
  const { shared, all } = common();
  expect(all).toEqual([shared, shared, shared]);
});

test.each(['builder', 'bap710'] as const)(
  'all pools can be one venue, and pools can be chosen (%s)',
  async (format) => {
    await waitForUpdates(world, await updateAll(world.market, () => 200n), asked);
    const venue = `0x${'AB'.repeat(20)}`;
    /** The venues of a frame of N pools: what nodes do not give in time is of the last block, without a price. */
    const venuesOf = (count: number, query: string, headers = {}) =>
      vi.waitFor(async () => {
        const { pairs } = DECODERS[format](await (await fetch(urlOf(`format=${format}&${query}`), { headers })).text());
        expect(pairs).toHaveLength(2 * count);
        return new Set(pairs.map(({ pamm }) => pamm));
      });
    const all = world.market.pools.length;
    expect(await venuesOf(all, `pools=${named()}&venue=${venue}`)).toEqual(new Set([venue.toLowerCase()]));
    const [one = ''] = named().split(',');
    expect(await venuesOf(1, `pools=${one},0x${'99'.repeat(20)}`)).toEqual(new Set([one]));
    expect((await venuesOf(all, '', { Authorization: 'Bearer good' })).size).toBe(all);
  },
);

test.each([
  ['an unknown form', 'format=x', 400],
  ['a venue that is no address', 'venue=0x1', 400],
  ['a malformed pool', 'pools=0x1', 400],
  ['an unknown tier', 'tier=gold', 400],
  ['an unknown basis', 'basis=x', 400],
  ['a choice of other pools without a key', 'tier=green', 401],
])('%s is rejected, by HTTP and WebSocket', async (_what, query, status) => {
  const url = urlOf(query.includes('pools') || status === 401 ? query : `pools=${named()}&${query}`);
  expect((await fetch(url)).status).toBe(status);
  expect((await rejectedUpgrade(url.replace('http', 'ws'))).status).toBe(status);
});

test('without a key and a choice, GET and WebSocket give one frame to all', async () => {
  await updateAll(world.market, () => 200n);
  const whole = (text: string) => {
    const { pairs, omitted } = decodeBuilderFrame(text);
    return pairs.length >= 4 && pairs.length / 2 + Number(omitted) === 3;
  };
  await until('a frame of all pools that are read for anyone', async () =>
    whole(await (await fetch(urlOf(''))).text()),
  );
  const [one, other] = await Promise.all([connectTexts(urlOf('')), connectTexts(urlOf('basis=live'))]);
  await until('frames', () => [one, other].every(({ texts }) => texts.length > 2));
  const response = await fetch(urlOf(''));
  await expectBlockHeaders(response.headers, world.market.chain.client);
  const text = await response.text();
  // Each frame has the time when it was made.
  for (const client of [one, other]) await until('the same frame', () => textsOf(client).includes(text));
});

test('a choice of other than named pools takes a key, and the response says so', async () => {
  const expected = { status: 401, body: { error: 'name pools, or send an API key' } };
  const response = await fetch(urlOf('tier=green'));
  expect({ status: response.status, body: await response.json() }).toEqual(expected);
  expect(await rejectedUpgrade(urlOf('tier=green').replace('http', 'ws'))).toMatchObject(expected);
  const bad = await fetch(urlOf('tier=green'), { headers: { Authorization: 'Bearer bad' } });
  expect([bad.status, await bad.json()]).toEqual([401, expected.body]);
  expect(bad.headers.get('X-Key-Ignored')).toBe('unknown');
});

test('a frame names the block that its pools were read at', async () => {
  await updateAll(world.market, () => 200n);
  const { number } = world.market.builder.block();
  const live = await liveFrame();
  await expectBlockHeaders(live.headers, world.market.chain.client);
  expect([live.headers.get('X-Quote-Basis'), live.headers.get('X-Target-Block')]).toEqual(['live', `${number}`]);
  for (const query of [`pools=${named()}&basis=committed`, `pools=0x${'99'.repeat(20)}`]) {
    const { headers } = await fetch(urlOf(query));
    await expectBlockHeaders(headers, world.market.chain.client);
    expect([headers.get('X-Quote-Basis'), headers.get('X-Target-Block')]).toEqual(['committed', null]);
  }
});

test('a WebSocket with a key in its query is rejected', async () => {
  expect((await rejectedUpgrade(urlOf(`pools=${named()}&api_key=ptd_x`).replace('http', 'ws'))).status).toBe(400);
});

test('without a frame for two seconds the service says so and closes', async () => {
  const proxy = await startRpcProxy(world.market.chain.rpcUrl);
  const chain = { ...world.config, rpcUrls: [proxy.url], wsUrls: [], live: undefined, blockTimeMs: 250 };
  const other = await startLiveStream(world, { chain });
  const client = await connectTexts(urlOf(`pools=${named()}&basis=committed`, other));
  await until('a frame', () => client.texts.length > 0);
  proxy.misbehave({ kind: 'down' });
  await until('the end', () => client.closed() !== null);
  expect([byeOf(client), client.closed()]).toEqual([
    { event: 'bye', reason: 'stale', retryMs: expect.any(Number) },
    1001,
  ]);
  // When exactly: `api/levels/price-levels.test.ts`. A busy machine reads bye late.
  const [last, bye] = client.texts.slice(-2);
  expect((bye?.at ?? 0) - decodeBuilderFrame(last?.text ?? '').madeAt).toBeGreaterThan(1_990);
  await other.stop();
  await proxy.stop();
});

test('pools that are not served have empty frames, by HTTP and WebSocket', async () => {
  const query = `pools=0x${'99'.repeat(20)}`;
  const client = await connectTexts(urlOf(query));
  await until('frames', () => client.texts.length > 2);
  for (const text of [...textsOf(client), await (await fetch(urlOf(query))).text()])
    expect(decodeBuilderFrame(text).pairs).toEqual([]);
});

test('a client that floods is sent away, and a stop says bye', async () => {
  const other = await startLiveStream(world);
  const [loud, quiet] = await Promise.all([1, 2].map(() => connectTexts(urlOf(`pools=${named()}`, other))));
  if (!loud || !quiet) throw new Error('no clients');
  for (let sent = 0; sent < 200; sent += 1) loud.socket.send('x');
  await until('the end', () => loud.closed() !== null);
  expect(byeOf(loud)).toMatchObject({ event: 'bye', reason: 'limits' });
  expect(quiet.closed()).toBeNull();
  await other.stop();
  await until('the end', () => quiet.closed() !== null);
  expect(byeOf(quiet)).toMatchObject({ event: 'bye', reason: 'shutdown' });
});

test('a client that reads slowly gets the newest frame when it reads again', async () => {
  const client = await connectTexts(urlOf(`pools=${named()}`));
  await until('a frame', () => client.texts.length > 0);
  const other = await connectTexts(urlOf(`pools=${named()}`));
  client.socket.pause();
  for (const price of [195n, 205n]) {
    await waitForUpdates(world, await updateAll(world.market, () => price), asked);
    const before = other.texts.length;
    await until('frames for all', () => other.texts.length > before + 1);
  }
  client.socket.resume();
  const pairs = pricedPairs(decodeBuilderFrame(await (await liveFrame()).text()));
  await until('the newest', () =>
    textsOf(client).some((text) => stringifyJson(pricedPairs(decodeBuilderFrame(text))) === stringifyJson(pairs)),
  );
});

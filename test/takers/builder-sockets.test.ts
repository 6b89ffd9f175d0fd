import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startedWorld } from '../harness/open-world.ts';
import { startLiveStream, startLiveWorld, updateAll } from '../live/live-world.ts';
import { rejectedUpgrade } from '../stream/ws-client.ts';
import { decodeBuilderFrame, decodeBuilderOverrides } from './decoders.ts';
import { connectTexts, type TextClient } from './levels-client.ts';

/* What clients of a block builder read at two of its paths, with nothing but another URL. */

const world = startedWorld(() => startLiveWorld({ flatPools: 2, packedPools: 0, guards: ['none'] }));
const start = () => {
  const { live } = world.config;
  const sources = live?.sources.map((source) => ({ ...source, republish: true })) ?? [];
  return startLiveStream(world, { chain: { ...world.config, live: { ...live, sources } } });
};
const api = startedWorld(start);

const urlOf = (path: string) => `${api.base}/ws/${path}`;
const wsUrlOf = (path: string) => urlOf(path).replace('http', 'ws');
const until = (what: string, isTrue: () => boolean) => expect.poll(isTrue, { interval: 10, message: what }).toBe(true);
const overridesOf = ({ texts }: TextClient) => texts.map(({ text }) => decodeBuilderOverrides(text));

test('state overrides come as frames of a builder, each change at once', async () => {
  const client = await connectTexts(urlOf('pamm_quote_stream'), { 'X-Api-Key': 'of another service' });
  await until('a frame', () => client.texts.length > 0);
  for (const price of [203n, 204n, 205n]) {
    const updates = await updateAll(world.market, () => price);
    await until('the words of all pools', () => {
      const { venues, blockNumber } = overridesOf(client).at(-1) ?? {};
      const words = Object.assign({}, ...[...(venues?.values() ?? [])].map((of) => of[world.market.registry]));
      const isShown = (slot: string, word: string) => words[slot] === word;
      return (
        blockNumber === world.market.builder.block().number &&
        updates.every((update) => Object.entries(update.words).every(([slot, word]) => isShown(slot, word)))
      );
    });
  }
  for (const { venues } of overridesOf(client)) expect([0, 1, 2]).toContain(venues.size);
});

test('price levels come as frames of a builder, without a key those that all see', async () => {
  await updateAll(world.market, () => 200n);
  const [all, named, keyed] = await Promise.all([
    connectTexts(urlOf('pamm_price_levels')),
    connectTexts(urlOf(`pamm_price_levels?pools=${world.market.pools[0]?.address}`)),
    connectTexts(urlOf('pamm_price_levels?levels=1'), { Authorization: 'good' }),
  ]);
  const last = ({ texts }: TextClient) => decodeBuilderFrame(texts.at(-1)?.text ?? '{}');
  await until('frames', () => all.texts.length > 0 && last(all).pairs.length === 4);
  await until('named pools', () => named.texts.length > 0 && last(named).pairs.length === 2);
  await until('all pools', () => keyed.texts.length > 0 && last(keyed).pairs.length === 4);
  expect([all, named, keyed].map((client) => last(client).omitted)).toEqual([0n, null, null]);
  expect(last(keyed).pairs.map(({ levels }) => levels.length)).toEqual([1, 1, 1, 1]);
});

test.each(['pamm_quote_stream', 'pamm_price_levels'])(
  '%s rejects what is no WebSocket, and a key in the URL',
  async (path) => {
    expect((await fetch(urlOf(path))).status).toBe(426);
    expect((await fetch(urlOf(path), { method: 'POST' })).status).toBe(405);
    const error = 'unknown parameter: a key goes in the Authorization header';
    expect(await rejectedUpgrade(wsUrlOf(`${path}?key=x`))).toMatchObject({ status: 400, body: { error } });
    const unknown = wsUrlOf(path).replace(`/${world.config.chainId}/`, '/9/');
    expect((await rejectedUpgrade(unknown)).status).toBe(404);
    expect((await fetch(urlOf(`${path}x`))).status).toBe(404);
  },
);

test.each(['pamm_quote_stream', 'pamm_price_levels'])(
  'the end of %s has no message, and the close says why',
  async (path) => {
    const other = await start();
    onTestFinished(() => other.stop());
    const socket = new WebSocket(`${other.base}/ws/${path}`.replace('http', 'ws'));
    const texts: string[] = [];
    socket.on('message', (data) => texts.push(String(data)));
    await once(socket, 'open');
    await until('a frame', () => texts.length > 0);
    const closed = once(socket, 'close');
    other.closeStreams();
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([1001, 'shutdown']);
    expect(texts.filter((text) => text.includes('bye'))).toEqual([]);
  },
);

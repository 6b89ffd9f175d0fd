import { beforeAll, expect, test } from 'vitest';
import { batchesOf, updateAll, waitForUpdates } from '../live/live-world.ts';
import { decodeBap710Frame, decodeBap710Overrides } from './decoders.ts';
import { connectTexts, type TextClient } from './levels-client.ts';
import { askWs, call, messagesOf, notesOf, noteTexts, type RpcResponse, until } from './rpc-client.ts';
import { startedRpcWorld } from './rpc-world.ts';

const { world, api, rpc, pools } = startedRpcWorld();

/** Pools without a price have no levels. */
beforeAll(async () => waitForUpdates(world, await updateAll(world.market, () => 205n), batchesOf(api)));

let calls = 0;
/** Calls a method, and gives its result. */
async function resultOf(client: TextClient, method: string, params: readonly unknown[]): Promise<unknown> {
  calls += 1;
  return (await askWs(client, call(method, params, `call ${calls}`))).result;
}
const subscribe = (client: TextClient, kind: string, named: object) =>
  resultOf(client, 'pamm_subscribe', [kind, named]);
const unsubscribe = (client: TextClient, id: unknown) => resultOf(client, 'pamm_unsubscribe', [id]);
/** The overrides that a subscription sent last. */
const lastVenues = (client: TextClient, id: unknown) =>
  decodeBap710Overrides(noteTexts(client, id).at(-1) ?? '').venues;

test('a WebSocket answers the same calls, and subscriptions send complete frames until they are ended', async () => {
  const client = await connectTexts(rpc.url());
  expect(await resultOf(client, 'pamm_status', [])).toMatchObject({ ready: true });
  const levels = await subscribe(client, 'subscribePriceLevelsV1', { pamms: pools() });
  const words = await subscribe(client, 'subscribeNewQuotesV1', { routers: [] });
  await updateAll(world.market, () => 206n);
  await until('frames', () => [levels, words].every((id) => notesOf(client, id).length > 1));
  // Of pools that nodes do not give in time, as on a busy machine, a frame has nothing: others have both directions.
  const pairsOf = () => noteTexts(client, levels).map((text) => decodeBap710Frame(text).pairs);
  await until('a frame of all pools', () => pairsOf().at(-1)?.length === 2 * pools().length);
  for (const pairs of pairsOf()) {
    const counts = Map.groupBy(pairs, ({ pamm }) => pamm);
    for (const of of counts.values()) expect(of).toHaveLength(2);
  }
  await until('words', () => lastVenues(client, words).size === 2);
  const [router] = lastVenues(client, words).keys();
  expect(await unsubscribe(client, words)).toBe(true);
  const one = await subscribe(client, 'subscribeNewQuotesV1', { routers: [router] });
  await until('one venue', () => notesOf(client, one).length > 0);
  expect([...lastVenues(client, one).keys()]).toEqual([router]);
  for (const id of [levels, one]) expect(await unsubscribe(client, id)).toBe(true);
  expect(await unsubscribe(client, levels)).toBe(false);
  const count = client.texts.length;
  // Frames that another client gets with the same subscriptions do not come here any more.
  const other = await connectTexts(rpc.url());
  const further = [
    await subscribe(other, 'subscribePriceLevelsV1', { pamms: pools() }),
    await subscribe(other, 'subscribeNewQuotesV1', { routers: [router] }),
  ];
  await until('frames elsewhere', () => further.every((id) => notesOf(other, id).length > 2));
  expect(await resultOf(client, 'pamm_status', [])).toBeDefined();
  expect(client.texts.length).toBe(count + 1);
});

test('over a WebSocket ids of each kind come back, in order, and notifications get no response', async () => {
  const client = await connectTexts(rpc.url());
  const silent = '{"jsonrpc":"2.0","method":"pamm_status"}';
  const ids = ['null', '""', '"a"', '0', '-1', '9007199254740993'];
  const calls = ids.map((id) => `{"jsonrpc":"2.0","id":${id},"method":"pamm_status","params":{}}`);
  client.socket.send(silent);
  client.socket.send(`[${[silent, ...calls, '7', '{"jsonrpc":"2.0","id":8,"method":"eth_call"}'].join()}]`);
  await until('the responses', () => client.texts.length > 0);
  const [text = ''] = client.texts.map((each) => each.text);
  const answered = [...text.matchAll(/"jsonrpc":"2.0","id":(.+?),"(result|error)"/g)].map(([, id, kind]) => [id, kind]);
  expect(answered).toEqual([...ids.map((id) => [id, 'result']), ['null', 'error'], ['8', 'error']]);
  expect(client.texts).toHaveLength(1);
});

test.each([{ Authorization: 'Bearer good' }, { Authorization: 'good' }, { 'X-Api-Key': 'good' }])(
  'a key in %o shows all pools, over HTTP and WebSocket',
  async (headers) => {
    const client = await connectTexts(rpc.url(), headers);
    const { pamms } = (await resultOf(client, 'pamm_getPammPriceLevels', [])) as { readonly pamms: object[] };
    expect(pamms).toHaveLength(3);
    expect(decodeBap710Frame(await rpc.askText('pamm_getPammPriceLevels', [], headers)).pairs).toHaveLength(6);
  },
);

test('a connection that breaches limits gets errors, then a bye', async () => {
  const client = await connectTexts(rpc.url());
  for (let sent = 0; sent < 30; sent += 1) client.socket.send('{');
  await until('errors', () => client.texts.length === 30);
  const codes = messagesOf(client).map(({ error }) => error?.code);
  expect(new Set(codes)).toEqual(new Set([-32_700, -32_005]));
  for (let sent = 0; sent < 200; sent += 1) client.socket.send('{');
  await until('the end', () => client.closed() !== null);
  expect(messagesOf(client).at(-1)).toMatchObject({ method: 'pamm_bye', params: { reason: 'limits' } });
});

test('a connection has two calls of levels or overrides a second, and a batch too', async () => {
  const levels = (id: number) => call('pamm_getPammPriceLevels', [{ pamms: pools() }], id);
  const words = (id: unknown) => call('pamm_getPammStateOverrides', [], id);
  const calls = [levels(1), words(2), levels(3), words(4), call('pamm_status', [], 5)];
  const batch = (await (await rpc.post(calls)).json()) as RpcResponse[];
  expect(batch.map(({ error }) => error?.code)).toEqual([undefined, undefined, -32_005, -32_005, undefined]);
  const client = await connectTexts(rpc.url());
  const sentAt = performance.now();
  for (const id of ['a', 'b', 'c']) client.socket.send(JSON.stringify({ ...levels(0), id }));
  await until('responses', () => client.texts.length === 3);
  const wereOfOneSecond = performance.now() - sentAt < 1_000;
  const [a, b, c] = messagesOf(client);
  expect([a, b].map((each) => [each?.id, each?.error])).toEqual(['a', 'b'].map((each) => [each, undefined]));
  // Each counts once those before it are answered: on a busy machine the third one may be of the next second.
  if (wereOfOneSecond) expect([c?.id, c?.error?.code]).toEqual(['c', -32_005]);
  let id = 0;
  const next = async () => {
    id += 1;
    return (await askWs(client, words(id))).error;
  };
  // Not so often that the connection reaches its limit of messages.
  await expect.poll(next, { interval: 250 }).toBeUndefined();
});

test('a subscription without pools has those that are read for anyone, whichever way it leaves them out', async () => {
  for (const named of [[{ pamms: [] }], [{ pamms: null, levels: null }], [{}], [null], []]) {
    const client = await connectTexts(rpc.url());
    const { result } = await askWs(client, call('pamm_subscribe', ['subscribePriceLevelsV1', ...named], 'l'));
    // What nodes do not give in time is of the last block, without a price.
    await until('a frame of all pools', () => {
      const { pairs, omitted } = decodeBap710Frame(noteTexts(client, result).at(-1) ?? '{}');
      return pairs.length >= 4 && pairs.length / 2 + Number(omitted) === 3;
    });
    client.socket.terminate();
  }
});

test('a connection has one subscription of each kind', async () => {
  const client = await connectTexts(rpc.url());
  const subscribe = (id: number, kind: string, named: object) => call('pamm_subscribe', [kind, named], id);
  const levels = (id: number) => subscribe(id, 'subscribePriceLevelsV1', { pamms: pools() });
  const quotes = (id: number) => subscribe(id, 'subscribeNewQuotesV1', { routers: [] });
  client.socket.send(JSON.stringify([levels(1), quotes(2), levels(3)]));
  await until('responses', () => client.texts.length > 0);
  const responses = JSON.parse(client.texts[0]?.text ?? '') as RpcResponse[];
  expect(responses.map(({ error }) => error?.code)).toEqual([undefined, undefined, -32_005]);
  expect((await askWs(client, quotes(4))).error?.code).toBe(-32_005);
  expect((await askWs(client, call('pamm_unsubscribe', [responses[0]?.result], 5))).result).toBe(true);
  expect((await askWs(client, levels(6))).error).toBeUndefined();
});

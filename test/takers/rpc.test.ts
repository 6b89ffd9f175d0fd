import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { seededRandom } from '../../devnet/traffic/random.ts';
import { malformedMessage } from './malformed.ts';
import { call, type RpcResponse } from './rpc-client.ts';
import { startedRpcWorld } from './rpc-world.ts';

const { rpc } = startedRpcWorld();
const { post, ask } = rpc;
const codeOf = async (body: unknown) => ((await (await post(body)).json()) as RpcResponse).error?.code;

test.each([
  ['no JSON', '{', -32_700],
  ['a key twice', '{"id":1,"id":2}', -32_700],
  ['a text', '"x"', -32_600],
  ['no version', { id: 1, method: 'pamm_status' }, -32_600],
  ['another version', { ...call('pamm_status'), jsonrpc: '1.0' }, -32_600],
  ['an id that is an object', call('pamm_status', [], {}), -32_600],
  ['an empty batch', [], -32_600],
  ['a batch of 21', Array.from({ length: 21 }, () => call('pamm_status')), -32_600],
  ['another method', call('eth_call', []), -32_601],
  ['a maker call', call('pamm_sendQuoteUpdateV1', []), -32_601],
  ['a subscription by HTTP', call('pamm_subscribe', []), -32_601],
  ['a parameter too many', call('pamm_status', [1]), -32_602],
  ['parameters by name', call('pamm_getPammPriceLevels', { pamms: [] }), -32_602],
  ['a pool that is no address', call('pamm_getPammPriceLevels', [{ pamms: ['0x1'] }]), -32_602],
  ['an order without an amount', call('titan_getPammQuote', [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]), -32_602],
  [
    'an order of one token',
    call(
      'titan_getPammQuote',
      Array(2)
        .fill(`0x${'11'.repeat(20)}`)
        .concat('0x1'),
    ),
    -32_602,
  ],
  ['a decimal amount', call('titan_getPammQuote', [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`, '1']), -32_602],
  [
    'tokens without a pool',
    call('titan_getPammQuote', [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`, '0x1']),
    -32_001,
  ],
])('%s is rejected with the code of JSON-RPC', async (_what, body, code) => {
  expect(await codeOf(body)).toBe(code);
});

test('a method that is not served is refused by name', async () => {
  for (const method of ['eth_call', 'eth_blockNumber', 'net_version', 'pamm_sendQuoteUpdateV1'])
    expect((await ask(method)).error?.message).toContain(method);
});

test('a batch gets the responses of its calls in order; notifications get none', async () => {
  const silent = { jsonrpc: '2.0', method: 'pamm_status' };
  const batch = [call('pamm_status', [], 'a'), silent, call('x', [], 2), 7];
  const responses = (await (await post(batch)).json()) as RpcResponse[];
  expect(responses.map(({ id, error }) => [id, error?.code])).toEqual([
    ['a', undefined],
    [2, -32_601],
    [null, -32_600],
  ]);
  const alone = await post(silent);
  expect([alone.status, await alone.text()]).toEqual([204, '']);
});

test('a key that is not valid is as none, by HTTP and WebSocket, and the response says so', async () => {
  const responses = [{ 'X-Api-Key': 'bad' }, { Authorization: 'bad' }].map((headers) =>
    post(call('pamm_status'), headers),
  );
  for (const response of await Promise.all(responses))
    expect([response.status, response.headers.get('X-Key-Ignored')]).toEqual([200, 'unknown']);
  const url = rpc.url().replace('http', 'ws');
  for (const [key, ignored] of [
    ['bad', 'unknown'],
    ['good', undefined],
  ] as const) {
    const socket = new WebSocket(url, { headers: { Authorization: key } });
    const [{ headers }] = (await once(socket, 'upgrade')) as [IncomingMessage];
    expect(headers['x-key-ignored']).toBe(ignored);
    socket.terminate();
  }
});

test('parameters that libraries write for none are none', async () => {
  for (const params of [null, {}, []]) expect((await ask('pamm_status', params)).result).toMatchObject({ ready: true });
  expect((await ask('pamm_getPammPriceLevels', [null])).error).toBeUndefined();
});

test('an unknown chain and a GET without an upgrade are errors of HTTP', async () => {
  const unknown = await fetch(rpc.url().replace(/\d+$/, '9'), { method: 'POST', body: '{}' });
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32_601, message: 'Unknown chainId: 9' },
  });
  expect((await fetch(rpc.url())).status).toBe(426);
});

/** `RPC_MESSAGES=100000` sends as many as are promised; `npm run bench:levels` also times quotes meanwhile. */
const MESSAGES = Number(process.env.RPC_MESSAGES ?? 500);

test(`${MESSAGES} malformed messages get responses of JSON-RPC or HTTP, and nothing breaks`, {
  timeout: 600_000,
}, async () => {
  const random = seededRandom(fc.readConfigureGlobal().seed ?? 0);
  const seen = new Map<string, number>();
  for (let sent = 0; sent < MESSAGES; sent += 10) {
    const responses = await Promise.all(Array.from({ length: 10 }, () => post(malformedMessage(random))));
    for (const response of responses) {
      const text = await response.text();
      expect([200, 204]).toContain(response.status);
      const read = text === '' ? [] : [JSON.parse(text)].flat();
      for (const { jsonrpc, id, error } of read as (RpcResponse & { jsonrpc: string })[]) {
        expect([jsonrpc, id]).toEqual(['2.0', expect.toSatisfy((each) => each === null || typeof each !== 'object')]);
        // -32603 is a defect.
        expect([undefined, -32_700, -32_600, -32_601, -32_602, -32_001, -32_005]).toContain(error?.code);
        seen.set(`${error?.code}`, (seen.get(`${error?.code}`) ?? 0) + 1);
      }
    }
  }
  if (process.env.RPC_MESSAGES) process.stdout.write(`${JSON.stringify(Object.fromEntries(seen))}\n`);
  expect(seen.size).toBeGreaterThan(4);
  expect((await ask('pamm_status')).result).toMatchObject({ ready: true });
});

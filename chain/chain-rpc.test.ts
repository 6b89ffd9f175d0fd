import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { pass, stopTime } from '../test/harness/stopped-time.ts';
import { ChainRpc } from './chain-rpc.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { fakeNodes } from './fake-nodes.fixture.ts';
import { RpcEndpoint } from './rpc-endpoint.ts';

test('a request that its caller gives up says nothing of the node: it stays on trial', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  let now = 0;
  const breaker = new CircuitBreaker(() => now);
  breaker.open();
  now = 500;
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const endpoint = new RpcEndpoint(url, { timeoutMs: 60_000, count: () => undefined, breaker });
  const heads = new ChainRpc([endpoint]).head(AbortSignal.timeout(50));
  await expect(heads).rejects.toMatchObject({ code: 'aborted' });
  expect([breaker.tryPass(), breaker.tryPass()]).toEqual([true, false]);
  silent.closeAllConnections();
  silent.close();
});

test('an outage counts calls that a deadline ended after a second, not those that were given up', async () => {
  stopTime();
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const calls: string[] = [];
  const rpc = new ChainRpc([new RpcEndpoint(url, { timeoutMs: 60_000, count: () => undefined })], {
    failed: () => void calls.push('failed'),
    worked: () => void calls.push('worked'),
  });
  const failing = async (afterMs: number, reason?: DOMException) => {
    const deadline = new AbortController();
    const failed = expect(rpc.head(deadline.signal)).rejects.toMatchObject({ code: 'aborted' });
    await pass(afterMs);
    deadline.abort(reason);
    await failed;
    return calls;
  };
  const late = new DOMException('too late', 'TimeoutError');
  expect(await failing(999, late)).toEqual([]);
  expect(await failing(1_000)).toEqual([]);
  expect(await failing(1_000, late)).toEqual(['failed']);
  silent.on('request', (_request, response) => response.end('<html>hello</html>'));
  await expect(rpc.head()).rejects.toMatchObject({ code: 'unreachable' });
  expect(calls).toEqual(['failed', 'failed']);
  silent.closeAllConnections();
  silent.close();
});

test('a block that a node does not have yet is refused, which is no fault of the node', async () => {
  const rpc = fakeNodes([async () => null], () => 0);
  for (let tries = 0; tries < 5; tries += 1)
    await expect(rpc.header(`0x${'0a'.repeat(32)}`, 1n)).rejects.toMatchObject({ code: 'refused' });
  expect(rpc.endpoints[0]?.breaker.isOpen).toBe(false);
});

test('a method that a proxy keeps from us opens no breaker and counts as no outage, and no paused node is asked for it', async () => {
  const methods: string[] = [];
  const proxy = createServer(async (request, response) => {
    const { method, id } = JSON.parse(await text(request)) as { method: string; id: number };
    methods.push(method);
    if (method === 'eth_optional') response.writeHead(403).end('<html>no</html>');
    else
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const breaker = new CircuitBreaker(() => 0);
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const calls: string[] = [];
  const rpc = new ChainRpc([new RpcEndpoint(url, { timeoutMs: 60_000, count: () => undefined, breaker })], {
    failed: () => void calls.push('failed'),
    worked: () => void calls.push('worked'),
  });
  const optional = () => rpc.requestOptional('eth_optional', [], (result) => result);
  for (let tries = 0; tries < 5; tries += 1) await expect(optional()).rejects.toMatchObject({ code: 'unreachable' });
  expect(await rpc.request('eth_any', [], (result) => result)).toBe('0x1');
  expect(calls).toEqual(['worked']);
  breaker.open();
  await expect(optional()).rejects.toMatchObject({ code: 'paused' });
  expect(methods).toEqual([...Array(5).fill('eth_optional'), 'eth_any']);
  proxy.closeAllConnections();
  proxy.close();
});

test.each([
  ['before', [0, 1]],
  ['after', [1, 0]],
])(
  'what a node refuses is refused, and no outage, where another one that is down is asked %s it',
  async (_order, order) => {
    const answer = { jsonrpc: '2.0', id: 1, error: { code: 3, message: 'execution reverted' } };
    const refusing = createServer((_request, response) => response.end(JSON.stringify(answer))).listen(0, '127.0.0.1');
    await once(refusing, 'listening');
    const urls = ['http://127.0.0.1:1', `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`];
    const endpoints = urls.map((url) => new RpcEndpoint(url, { timeoutMs: 60_000, count: () => undefined }));
    const outages: string[] = [];
    const rpc = new ChainRpc(
      order.map((index) => endpoints[index] as RpcEndpoint),
      { failed: ({ code }) => void outages.push(code), worked: () => undefined },
    );
    for (let call = 0; call < 5; call += 1) {
      await expect(rpc.request('eth_call', [], String)).rejects.toMatchObject({
        code: 'refused',
        answer: answer.error,
      });
    }
    expect(outages).toEqual([]);
    refusing.closeAllConnections();
    refusing.close();
  },
);

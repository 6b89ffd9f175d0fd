import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { RpcEndpoint } from './rpc-endpoint.ts';

const MEBIBYTE = 1024 * 1024;

/** A node that answers every request in one way. `requests` and `counted` say what went to it and what came of it. */
async function nodeThat(answer: (response: ServerResponse) => void, timeoutMs = 5_000) {
  const requests: unknown[] = [];
  const counted: string[] = [];
  const server = createServer(async (request, response) => {
    requests.push(JSON.parse(await text(request)));
    answer(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a-key`;
  const endpoint = new RpcEndpoint(url, {
    timeoutMs,
    count: (method, outcome) => counted.push(`${method} ${outcome}`),
  });
  return { endpoint, requests, counted };
}

const resultOf = (characters: number) => JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'a'.repeat(characters) });
const packed = (body: string) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body));

test('sends JSON-RPC, each request with an id of its own, and gives the result', async () => {
  const { endpoint, requests, counted } = await nodeThat((response) => response.end('{"result":"0x1"}'));
  expect(await endpoint.request('eth_call', [{ to: '0x2' }, 'latest'])).toBe('0x1');
  expect(await endpoint.request('eth_chainId', [])).toBe('0x1');
  expect(requests).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to: '0x2' }, 'latest'] },
    { jsonrpc: '2.0', id: 2, method: 'eth_chainId', params: [] },
  ]);
  expect(counted).toEqual(['eth_call ok', 'eth_chainId ok']);
});

test('an answer that is packed is unpacked', async () => {
  const { endpoint } = await nodeThat(packed(resultOf(MEBIBYTE)));
  expect(await endpoint.request('eth_call', [])).toBe('a'.repeat(MEBIBYTE));
});

const error = { code: -32_005, message: 'header not found', data: '0x1' };

const cut = (response: ServerResponse) =>
  response.writeHead(200, { 'content-length': 99 }).write('{"res', () => response.destroy());

test.each([
  ['cut in the middle', cut],
  ['larger than 10 MiB', (response: ServerResponse) => response.end(resultOf(10 * MEBIBYTE))],
  ['larger than 10 MiB once it is unpacked', packed(resultOf(10 * MEBIBYTE))],
  [
    'no gzip although it says so',
    (response: ServerResponse) => response.setHeader('content-encoding', 'gzip').end('{}'),
  ],
  ['one of too many requests', (response: ServerResponse) => response.writeHead(429).end(JSON.stringify({ error }))],
])('a response that is %s is rejected, and no URL is reported', async (_what, answer) => {
  const { endpoint, counted } = await nodeThat(answer);
  const message = `${endpoint.label} gave no answer to eth_call`;
  await expect(endpoint.request('eth_call', [])).rejects.toMatchObject({ code: 'unreachable', message });
  expect(counted).toEqual(['eth_call unreachable']);
});

test.each<[string, (response: ServerResponse) => void, string]>([
  ['an HTTP error', (it) => it.writeHead(502).end('{"result":"0x1"}'), 'status 502: {"result":"0x1"}'],
  ['an error of a proxy', (it) => it.writeHead(503).end('{"error":"slow down"}'), 'status 503: {"error":"slow down"}'],
  ['a wrong key', (it) => it.writeHead(401).end('Must be authenticated!'), 'status 401: Must be authenticated!'],
  ['a page', (it) => it.end('<html><h1>Welcome</h1></html>'), 'status 200: Welcome'],
  [
    'a redirection',
    (it) => it.writeHead(308, { location: 'https://x.org/a-key' }).end('{}'),
    'status 308: redirects to https://x.org',
  ],
])('a response that is %s is rejected with its status and words', async (_what, answer, reason) => {
  const { endpoint, counted } = await nodeThat(answer);
  const message = `${endpoint.label} gave no answer to eth_call: ${reason}`;
  await expect(endpoint.request('eth_call', [])).rejects.toMatchObject({ code: 'unreachable', message, reason });
  expect(counted).toEqual(['eth_call unreachable']);
});

test('an error in JSON-RPC is a refusal, whatever the HTTP status', async () => {
  const { endpoint } = await nodeThat((response) => response.writeHead(500).end(JSON.stringify({ error })));
  const message = `${endpoint.label} refused eth_call: -32005 header not found`;
  const reason = 'status 500: -32005 header not found';
  await expect(endpoint.request('eth_call', [])).rejects.toMatchObject({
    code: 'refused',
    message,
    answer: error,
    reason,
  });
});

test('the time limit is one of the whole answer', async () => {
  const { endpoint } = await nodeThat((response) => {
    const trickle = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(trickle));
  }, 200);
  await expect(endpoint.request('eth_call', [])).rejects.toMatchObject({ code: 'timeout' });
});

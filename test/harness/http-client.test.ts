import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPoolTradingDataClient } from './http-client.ts';
import { openWorld } from './open-world.ts';
import { runs } from './property-seed.ts';

let answer: { status: number; type: string; body: string; chunked: boolean };
let received: { request: IncomingMessage; body: string };

/** Answers what the test says, with or without a length, and keeps what it was sent. */
const server = openWorld(async (ends) => {
  const listening = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received = { request, body };
    response.writeHead(answer.status, {
      'Content-Type': answer.type,
      ...(!answer.chunked && { 'Content-Length': Buffer.byteLength(answer.body) }),
    });
    response.end(answer.body);
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  ends.defer(() => new Promise((resolve) => listening.close(() => resolve())));
  return { url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` };
});

const uint64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.constant(2n ** 64n - 1n),
);

test('integers of 64 bits arrive and leave exact, whatever the length of the answer is known to be', async () => {
  const client = createPoolTradingDataClient(server.url, { apiKey: 'a-key' });
  await fc.assert(
    fc.asyncProperty(uint64, uint64, fc.boolean(), async (sequence, timestampNs, chunked) => {
      const body = `{"accepted":true,"providers":[{"provider":"é","accepted":true,"timestampNs":${timestampNs}}]}`;
      answer = { status: 200, type: 'application/json', body, chunked };
      const { data } = await client.POST('/public/v1/evm/{chain_id}/pamm-quote', {
        params: { path: { chain_id: 56 } },
        body: { tx: '0x', blockNumber: 1, replacementUuid: '00', replacementSeqNumber: sequence },
      });
      expect(received.body).toBe(
        `{"tx":"0x","blockNumber":1,"replacementUuid":"00","replacementSeqNumber":${sequence}}`,
      );
      const shown = data?.providers[0]?.timestampNs;
      expect(typeof shown).toBe(timestampNs > 2n ** 53n - 1n ? 'bigint' : 'number');
      expect(BigInt(shown ?? -1)).toBe(timestampNs);
    }),
    { numRuns: runs(20) },
  );
});

test('sends the key, the path and the query, and no key when there is none', async () => {
  answer = { status: 200, type: 'application/json', body: '{"data":[],"total":0,"nextOffset":null}', chunked: false };
  const query = { tier: 'green,yellow', include24h: true, minTvlFiat: 0 };
  const params = { path: { chain_id: 8453 }, query };
  await createPoolTradingDataClient(`${server.url}/`, { apiKey: 'a-key' }).GET('/public/v1/evm/{chain_id}/metadata', {
    params,
  });
  expect(received.request.url).toBe('/public/v1/evm/8453/metadata?tier=green%2Cyellow&include24h=true&minTvlFiat=0');
  expect(received.request.headers.authorization).toBe('Bearer a-key');
  await createPoolTradingDataClient(server.url).GET('/public/v1/evm/{chain_id}/metadata', { params });
  expect(received.request.headers.authorization).toBeUndefined();
});

test('an error is a value: an object where the service sends JSON, a text where it sends one', async () => {
  const client = createPoolTradingDataClient(server.url);
  answer = { status: 404, type: 'application/json', body: '{"error":"Unknown chainId: 7"}', chunked: false };
  const params = { path: { chain_id: 7 } };
  const unknown = await client.GET('/public/v1/evm/{chain_id}/metadata', { params });
  expect([unknown.response.status, unknown.error]).toEqual([404, { error: 'Unknown chainId: 7' }]);
  answer = { status: 400, type: 'text/plain', body: 'Failed to deserialize query string: count', chunked: true };
  const malformed = await client.GET('/public/v1/evm/{chain_id}/metadata', { params });
  expect([malformed.response.status, malformed.error]).toEqual([400, answer.body]);
  expect(malformed.data).toBeUndefined();
});

test('an answer that is no JSON throws, as does no answer', async () => {
  answer = { status: 200, type: 'text/html', body: '<html>', chunked: false };
  await expect(createPoolTradingDataClient(server.url).GET('/public/v1/chains')).rejects.toThrow(SyntaxError);
  const fetch = () => Promise.reject(new TypeError('fetch failed'));
  await expect(createPoolTradingDataClient(server.url, { fetch }).GET('/public/v1/chains')).rejects.toThrow(
    'fetch failed',
  );
});

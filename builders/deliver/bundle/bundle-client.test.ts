import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { updateOf } from '../../../test/pamm/sample-updates.ts';
import type { PushOutcome } from '../../submit/bundle/bundle-state.ts';
import type { Endpoint } from '../../submit/endpoints.ts';
import { sendBundle } from './bundle-client.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const update = updateOf({ tx: '0x02f8', blockNumber: 2n ** 64n - 1n, maxTimestamp: 1_800_000_000n });

function endpointAt(url: string): Endpoint {
  return { id: 'e', transport: 'bundle', url, provider: `b:${url}`, apiKey: 'secret' };
}

/** What comes of sending to a builder that answers like this. */
async function sendTo(listener: RequestListener, timeoutMs = 20_000): Promise<PushOutcome> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    return await sendBundle(
      endpointAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
      update,
      timeoutMs,
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

const rpc = (fields: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...fields });

test('asks for the first place in the block, integers exact and the key bare', async () => {
  let seen: { method?: string; headers: IncomingHttpHeaders; body: string } | undefined;
  const outcome = await sendTo(async (request, response) => {
    seen = { method: request.method ?? '', headers: request.headers, body: await text(request) };
    response.end(rpc({ result: HASH }));
  });
  expect(outcome).toEqual({ kind: 'accepted', answer: { accepted: true, bundleHash: HASH } });
  expect(seen).toMatchObject({
    method: 'POST',
    headers: { authorization: 'secret', 'content-type': 'application/json' },
    body:
      '{"jsonrpc":"2.0","id":1,"method":"eth_sendBundle","params":[{"txs":["0x02f8"],' +
      '"maxBlockNumber":18446744073709551615,"maxTimestamp":1800000000,"positionFirst":true}]}',
  });
});

describe('the verdict', () => {
  const accepted = { kind: 'accepted', answer: { accepted: true } };
  const rejected = (error: string) => ({ kind: 'rejected', answer: { accepted: false, error } });
  const failed = (error: string) => ({ kind: 'failed', answer: { accepted: false, error } });
  const noResponse = failed('the builder answered with something that is no JSON-RPC response');

  test.each<[string, RequestListener, object]>([
    [
      'of a hash in an object',
      answering(200, rpc({ result: { bundleHash: HASH } })),
      { ...accepted, answer: { accepted: true, bundleHash: HASH } },
    ],
    ['of a code that says it is held', answering(200, rpc({ error: { code: -38000, message: 'x' } })), accepted],
    ['of words that say it is held', answering(200, rpc({ error: { message: 'Already known' } })), accepted],
    ['of other words', answering(200, rpc({ error: { code: -32000, message: 'bad bundle' } })), rejected('bad bundle')],
    ['of no words', answering(200, rpc({ error: { code: -32000 } })), rejected('the builder refused with code -32000')],
    ['of words in a 400', answering(400, rpc({ error: { code: 1, message: 'bad block' } })), rejected('bad block')],
    ['of a bare 404', answering(404, 'no'), rejected('the builder answered with HTTP 404')],
    ['of long words', answering(200, rpc({ error: { message: 'x'.repeat(9_999) } })), rejected('x'.repeat(500))],
    ['of words that are no text', answering(200, rpc({ error: { message: 'a\0b\ud83d' } })), rejected('a b ')],
    ['of a result that is no hash', answering(200, rpc({ result: 'ok' })), noResponse],
    ['of a hash that is too long', answering(200, rpc({ result: `${HASH}0` })), noResponse],
    ['of no JSON', answering(200, '<html>'), noResponse],
    ['of 401', answering(401, ''), failed('the builder answered with HTTP 401')],
    ['of 403', answering(403, ''), failed('the builder answered with HTTP 403')],
    ['of 429', answering(429, ''), failed('the builder answered with HTTP 429')],
    ['of 503', answering(503, rpc({ result: HASH })), failed('the builder answered with HTTP 503')],
    [
      'of 503 with a wait',
      answering(503, '', { 'Retry-After': '7' }),
      { ...failed('the builder answered with HTTP 503'), retryAfterMs: 7_000 },
    ],
    [
      'of a broken connection',
      (_, response) => response.destroy(),
      failed(expect.stringMatching(/^transport error: (UND_ERR_SOCKET|ECONNRESET)$/)),
    ],
    [
      'of more than 10 MiB',
      answering(200, rpc({ result: 'x'.repeat(11 * 1024 * 1024) })),
      failed(expect.stringMatching(/^transport error: /)),
    ],
    // The key must not follow to wherever the builder's host points.
    [
      'of a redirect',
      answering(302, '', { Location: 'http://127.0.0.1:1/' }),
      failed('transport error: connection failed'),
    ],
  ])('%s', async (_name, listener, expected) => {
    expect(await sendTo(listener)).toEqual(expected);
  });

  test('of silence, and of an answer that never ends', async () => {
    const late = failed('the builder did not answer in time');
    expect(await sendTo(() => undefined, 50)).toEqual(late);
    expect(await sendTo((_, response) => response.write('{'), 50)).toEqual(late);
  });

  test('of a host that nobody listens at', async () => {
    expect(await sendBundle(endpointAt('http://127.0.0.1:1/'), update, 5_000)).toMatchObject({
      kind: 'failed',
      answer: { error: expect.stringMatching(/^transport error: (ECONNREFUSED|connection failed)$/) },
    });
  });
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type StreamState, stream } from '../stream.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const POOL = `0x${'aa'.repeat(20)}`;
const FOUND = { results: [{ poolAddress: POOL, quote: { poolAddress: POOL, serverTs: 0 } }] };
const BLOCK = { 'X-Block-Number': '5', 'X-Block-Hash': '0x' };

/** Follows a service that answers by this function. */
function follow(answer: () => Response) {
  const states: StreamState[] = [];
  const stop = new AbortController();
  const options = { url: 'http://localhost', chainId: 1, pools: [POOL], WebSocket: undefined, signal: stop.signal };
  const ended = (async () => {
    for await (const state of stream({ ...options, fetch: async () => answer() })) states.push(state);
  })();
  return { states, stop, ended };
}

test.each([
  ['a page', () => new Response('<html>404 Not Found</html>', { status: 404 })],
  ['nothing', () => new Response(null, { status: 404 })],
  ['other JSON', () => Response.json({ message: 'no Route matched' }, { status: 404 })],
  ['null', () => Response.json(null, { status: 404 })],
])('a 404 of a proxy, which is %s, ends no stream: it is tried again', async (_, ofProxy) => {
  let isDeploying = true;
  const { states, stop, ended } = follow(() => (isDeploying ? ofProxy() : Response.json(FOUND, { headers: BLOCK })));
  await vi.advanceTimersByTimeAsync(7_000);
  expect(states.at(-1)?.block).toBeNull();
  expect(states.at(-1)?.stale.get(POOL)?.status).toBeNull();
  isDeploying = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(states.at(-1)?.block?.number).toBe(5);
  stop.abort();
  await ended;
});

test('a 404 of the service ends the stream', async () => {
  const { ended } = follow(() => Response.json({ error: 'Unknown chainId: 1' }, { status: 404 }));
  await expect(ended).rejects.toMatchObject({ name: 'NotFoundError', message: 'Unknown chainId: 1' });
});

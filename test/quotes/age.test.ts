import { expect, onTestFinished, test } from 'vitest';
import { evenBins } from '../../devnet/pools.ts';
import { routeApp } from '../route/route-app.ts';
import { connectSse } from '../stream/sse-client.ts';
import { startStreamApi } from '../stream/stream-api.ts';
import { chainConfig, makePool, quoteWorld, stillQuotes } from './quote-world.ts';
import { directoryOf } from './served-pool.ts';

const MAX_AGE_MS = 3_000;
const WAIT = { interval: 20 };

const world = quoteWorld(async (on) =>
  makePool(on, { pair: await on.pair(18, 6), price: 2_000, bins: evenBins(-2, 2, 1_000) }),
);

/** A block of the time that it is. */
async function mineNow(): Promise<void> {
  await world.chain.client.setNextBlockTimestamp({ timestamp: BigInt(Math.ceil(Date.now() / 1_000)) });
  await world.chain.client.mine({ blocks: 1 });
}

/** An API of the world's pool, a client of its stream, and each way to ask for a quote. */
async function startAskers() {
  const { address } = world;
  const chain = chainConfig(31337, [world.anvil.url], { blockTimeMs: 200 });
  const directory = await directoryOf(world, [address]);
  const quotes = { ...stillQuotes, maxAgeMs: MAX_AGE_MS, minRefreshMs: 50 };
  const api = await startStreamApi({ chain, directory, quotes });
  onTestFinished(() => api.stop());
  const routes = routeApp({ chain, directory, quotes });
  const pool = (await directory.table()).find(31337, address);
  await mineNow();
  const client = await connectSse(`${api.base}/stream?pools=${address}`);
  onTestFinished(() => client.close());
  return {
    client,
    single: async () => {
      const answer = await fetch(`${api.base}/${address}/bid_ask`);
      return [answer.status, await answer.json()] as const;
    },
    batch: async () => {
      const answer = await fetch(`${api.base}/bid_ask/batch`, {
        method: 'POST',
        headers: { 'X-API-Key': 'good', 'Content-Type': 'application/json' },
        body: JSON.stringify({ pools: [address] }),
      });
      return ((await answer.json()) as { results: [Record<string, unknown>] }).results[0];
    },
    route: async () => {
      const order = { tokenIn: pool?.token0.address, tokenOut: pool?.token1.address, amountIn: `${10n ** 16n}` };
      const headers = { 'Content-Type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify(order) };
      return (await routes.request('/public/v1/evm/31337/route', request)).status;
    },
  };
}

test('a quote of a block that is too old is given to nobody, until the chain goes on', async () => {
  const { client, single, batch, route } = await startAskers();
  /** Quotes of a block that is new, on a machine that may be too slow for the first one. */
  const expectQuotes = async () => {
    const answers = async () => {
      await mineNow();
      await expect.poll(() => client.book.quotes.has(world.address), WAIT).toBe(true);
      return [(await single())[0], await batch(), await route()];
    };
    await expect.poll(answers, { timeout: 60_000, interval: 1_100 }).toMatchObject([200, { quote: {} }, 200]);
  };
  await expectQuotes();

  // A client that repeats its request gets ready bytes: these end too.
  const made = Number((await world.chain.client.getBlock()).timestamp) * 1_000;
  const oldest: number[] = [];
  const status = async () => {
    const askedAt = Date.now();
    const [answered] = await single();
    if (answered === 200) oldest.push(askedAt - made);
    return answered;
  };
  await expect.poll(status, WAIT).toBe(503);
  expect(Math.max(...oldest)).toBeLessThan(MAX_AGE_MS);
  expect(await single()).toEqual([503, { error: 'Service temporarily unavailable' }]);
  expect(await batch()).toMatchObject({ error: { status: 503 } });
  expect(await route()).toBe(502);
  await expect.poll(() => client.book.failed.get(world.address), WAIT).toBe(503);
  const events = client.messages.map(({ event }) => event).filter((event) => event !== 'heartbeat');
  expect([events.at(-1), client.book.quotes.size]).toEqual(['stale', 0]);

  await expectQuotes();
});

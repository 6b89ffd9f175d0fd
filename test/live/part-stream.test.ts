import { expect, onTestFinished, test } from 'vitest';
import { startedWorld } from '../harness/open-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { Book } from '../stream/book.ts';
import { startStreamApi } from '../stream/stream-api.ts';
import { connectSse } from '../stream/stream-connection.ts';
import type { LiveQuote } from './live-world.ts';
import { startPartWorld } from './part-world.ts';

const PARTS = 30;

const world = startedWorld(() =>
  startPartWorld({ guards: ['none'], node: { form: 'payload' } }, () => ({ warmBudget: { callsPerMinute: 20_000 } })),
);
const api = startedWorld(() => startStreamApi({ chain: world.config, directory: fixedDirectory(world.served) }));

test('a stream brings the prices of each part while it is the newest', async () => {
  const { market, config } = world;
  const pools = market.pools.map(({ address }) => address);
  const book = new Book();
  /** Live prices of the first pool that came. */
  const came = new Set<string>();
  const { close } = connectSse(
    new URL(api.base).origin,
    { chainId: config.chainId, pools, depth: true },
    {
      message(event, id, text) {
        book.take({ event, id, data: JSON.parse(text) } as never);
        const quote = book.quotes.get(pools[0] ?? '')?.quote as LiveQuote | undefined;
        if (quote?.basis?.kind === 'live' && quote.priceProviderStatus === 'healthy') came.add(quote.bidAdj);
      },
      ended: () => undefined,
    },
  );
  onTestFinished(close);
  await expect.poll(() => book.quotes.size).toBe(pools.length);
  const latencies: number[] = [];
  for (let shown = 0; shown < PARTS; shown += 1) {
    const known = came.size;
    // Each part has its own price.
    await world.price(150n + BigInt(shown));
    const startedAt = performance.now();
    await expect.poll(() => came.size, { interval: 2 }).toBe(known + 1);
    latencies.push(performance.now() - startedAt);
  }
  if (process.env.LIVE_FILLS) process.stdout.write(`${latencies.sort((one, other) => one - other).map(Math.round)}\n`);
  expect(came.size).toBe(PARTS);
});

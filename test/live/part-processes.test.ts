import { randomUUID } from 'node:crypto';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { startedWorld } from '../harness/open-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { batchesOf } from './live-world.ts';
import { quotesAfter, quotesOf } from './part-quotes.ts';
import { startPartWorld } from './part-world.ts';

/** Parts of a block are read by one process for all, and by another one when that is gone. */

const world = startedWorld(() =>
  startPartWorld({ flatPools: 4, packedPools: 4, guards: ['none'], node: { form: 'block' } }),
);
beforeAll(() => world.api.stop());

/** Processes that share what they read. */
async function openApis(count: number): Promise<readonly StreamApi[]> {
  const sharedBy = { redisUrl: inject('redisUrl'), prefix: randomUUID() };
  const { config, served } = world;
  const open = () => startStreamApi({ chain: config, directory: fixedDirectory(served), sharedBy });
  const apis = await Promise.all(Array.from({ length: count }, open));
  for (const api of apis) onTestFinished(() => api.stop());
  return apis;
}

const callsAtParts = () => world.node.requests.filter(({ params }) => params.includes('pending')).length;

/** Shows parts with new prices, each once all processes quote after the one before. */
async function showParts(apis: readonly StreamApi[], count: number): Promise<void> {
  for (let shown = 0; shown < count; shown += 1) {
    const part = await world.price(190n + BigInt(shown % 10));
    await Promise.all(apis.map((api) => quotesAfter(world, part, batchesOf(api))));
  }
}

test.each([
  [1, 3],
  // At times one begins to read before it hears that another one does.
  [4, 4],
])('with %i processes, a part costs %i calls at most on average', { timeout: 60_000 }, async (count, most) => {
  const apis = await openApis(count);
  // Until it is known of each pool how its depth is found, and how its tokens move.
  await showParts(apis, 5);
  const before = callsAtParts();
  const startedAt = performance.now();
  await showParts(apis, 20);
  // A part that stays for long is shown again each 200 ms by one call.
  const again = (performance.now() - startedAt) / 200;
  expect(callsAtParts() - before).toBeLessThanOrEqual(most * 20 + again);
});

test('when the process that reads is gone, the others quote after the next parts', { timeout: 60_000 }, async () => {
  const apis = await openApis(3);
  await showParts(apis, 2);
  const stop = world.node.run(async () => undefined);
  onTestFinished(stop);
  for (const [index, api] of apis.slice(0, 2).entries()) {
    await api.stop();
    for (const other of apis.slice(index + 1)) {
      await expect
        .poll(async () => (await quotesOf(world, {}, batchesOf(other))).map(({ basis }) => basis?.kind))
        .toEqual(world.market.pools.map(() => 'live'));
    }
  }
});

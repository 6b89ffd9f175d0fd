import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { stringifyJson } from '../../runtime/json.ts';
import { type LiveWorld, startLiveWorld, updateAll } from '../live/live-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { decodeBap710Frame } from './decoders.ts';

/* Whichever process answers, levels are the same: one of them reads the chain for all. */

let world: LiveWorld;
let apis: readonly StreamApi[] = [];
beforeAll(async () => {
  world = await startLiveWorld({ flatPools: 2, packedPools: 2, guards: ['none', 'stopLoss'] });
  const sharedBy = { redisUrl: inject('redisUrl'), prefix: randomUUID() };
  const options = { chain: world.config, directory: fixedDirectory(world.served), sharedBy };
  apis = await Promise.all([1, 2, 3].map(() => startStreamApi(options)));
});
afterAll(async () => {
  await Promise.all(apis.map((api) => api.stop()));
  await world?.stop();
});

test('processes that share reads show the same levels, all exact', { timeout: 60_000 }, async () => {
  const pools = world.market.pools.map(({ address }) => address);
  const frames = () =>
    Promise.all(
      apis.map(async ({ base }) => {
        const response = await fetch(`${base}/price_levels?format=bap710&pools=${pools.join()}`);
        return response.status === 200 ? decodeBap710Frame(await response.text()).pairs : [];
      }),
    );
  for (const price of [200n, 204n, 197n]) {
    await updateAll(world.market, () => price);
    await expect
      .poll(
        async () => {
          const [first = [], ...others] = await frames();
          const isWhole = first.length === 2 * pools.length && first.every(({ levels }) => levels.length > 5);
          const isExact = first.every(({ levels }) => levels.every(({ isSimulated }) => isSimulated));
          return isWhole && isExact && others.every((other) => stringifyJson(other) === stringifyJson(first));
        },
        { timeout: 15_000, interval: 100 },
      )
      .toBe(true);
  }
});

import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { stringifyJson } from '../../runtime/json.ts';
import { startedWorld } from '../harness/open-world.ts';
import { startLiveStream, startLiveWorld, updateAll } from '../live/live-world.ts';
import { decodeBap710Frame, pricedPairs } from './decoders.ts';

/* Whichever process answers, levels are the same: one of them reads the chain for all. */

const world = startedWorld(() => startLiveWorld({ flatPools: 2, packedPools: 2, guards: ['none', 'stopLoss'] }));
const prefix = randomUUID();
const apis = [1, 2, 3].map(() =>
  startedWorld(() => startLiveStream(world, { sharedBy: { redisUrl: inject('redisUrl'), prefix } })),
);

test('processes that share reads show the same levels, all exact', async () => {
  const pools = world.market.pools.map(({ address }) => address);
  const frames = () =>
    Promise.all(
      apis.map(async ({ base }) => {
        const response = await fetch(`${base}/price_levels?format=bap710&pools=${pools.join()}`);
        return response.status === 200 ? pricedPairs(decodeBap710Frame(await response.text())) : [];
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
        { interval: 100 },
      )
      .toBe(true);
  }
});

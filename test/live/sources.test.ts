import { expect, test } from 'vitest';
import { startedWorld } from '../harness/open-world.ts';
import { builderSource, relayerSource, startLiveWorld, updateAll, waitForUpdates } from './live-world.ts';

/* A live quote names the sources that hold its price: takers send to builders that know it. */

const world = startedWorld(() =>
  startLiveWorld({ flatPools: 1, packedPools: 1 }, (market) => {
    const [[builder], [relayer]] = [builderSource(market).sources, relayerSource(market).sources];
    if (!builder || !relayer) throw new Error('a source is missing');
    return { sources: [{ ...builder, name: 'titan' }, relayer] };
  }),
);

test('live quotes and plans name the sources that hold their price, committed ones none', async () => {
  const { market, api } = world;
  const basesOf = async (body = {}) =>
    (await world.batch(body)).results.map((each) => ('quote' in each ? each.quote.basis : undefined));
  let hundredths = 200n;
  await expect
    .poll(async () => {
      // A quote names those that held its price when it was read, which of a new price both do once both are connected.
      hundredths += 1n;
      await waitForUpdates(world, await updateAll(market, () => hundredths));
      return (await basesOf()).map((basis) => [basis?.kind, basis?.sources?.toSorted()]);
    })
    .toEqual(market.pools.map(() => ['live', ['relayer', 'titan']]));
  for (const basis of await basesOf({ basis: 'committed' })) expect(basis?.sources).toBeNull();
  const { status, text } = await api.request(`/public/v1/evm/${world.config.chainId}/route`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ tokenIn: market.token0, tokenOut: market.token1, amountIn: '1000000' }),
  });
  expect([status, JSON.parse(text).basis?.sources?.toSorted()]).toEqual([200, ['relayer', 'titan']]);
});

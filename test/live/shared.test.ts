import { randomUUID } from 'node:crypto';
import { beforeAll, expect, inject, test } from 'vitest';
import { startedWorld } from '../harness/open-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { type Batch, startLiveWorld, updateAll } from './live-world.ts';

/** A chain's sources are read by one process for all, and by another one when that is gone. */

const world = startedWorld(() => startLiveWorld({ flatPools: 1, packedPools: 1 }));
// It reads the sources by itself.
beforeAll(() => world.api.stop());

async function kindsOf({ base }: StreamApi): Promise<readonly (string | undefined)[]> {
  const response = await fetch(`${base}/bid_ask/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ pools: world.market.pools.map(({ address }) => address) }),
  });
  const { results } = (await response.json()) as Batch;
  return results.map((result) => ('quote' in result ? result.quote.basis?.kind : result.error.error));
}

const LIVE = ['live', 'live'];

const untilLive = (api: StreamApi) => expect.poll(() => kindsOf(api), { interval: 20 }).toEqual(LIVE);

const untilConnections = (count: number) =>
  expect.poll(() => world.market.builder.connections(), { interval: 10 }).toBe(count);

/** The accounts whose words a process passes on. */
async function republishedBy({ base }: StreamApi): Promise<readonly string[]> {
  const response = await fetch(`${new URL(base).origin}/rpc/${world.config.chainId}`, {
    method: 'POST',
    body: '{"jsonrpc":"2.0","id":1,"method":"pamm_getPammStateOverrides","params":[]}',
  });
  return Object.keys(((await response.json()) as { result: { overrides: object } }).result.overrides);
}

test('one process reads the sources for all, another one takes over', async () => {
  const { market, config, served } = world;
  const sharedBy = { redisUrl: inject('redisUrl'), prefix: randomUUID() };
  const { live } = config;
  const sources = live?.sources.map((source) => ({ ...source, republish: true })) ?? [];
  const chain = { ...config, live: { ...live, sources } };
  const open = () => startStreamApi({ chain, directory: fixedDirectory(served), sharedBy });
  const first = await open();
  await updateAll(market, () => 200n);
  await untilLive(first);
  const others = [await open(), await open()];
  for (const other of others) await untilLive(other);
  for (const other of [first, ...others]) await expect.poll(() => republishedBy(other)).toEqual([market.registry]);
  // One that waits for Redis reads the sources by itself for a moment.
  await untilConnections(1);
  await Promise.all([first.stop(), untilConnections(0)]);
  await untilConnections(1);
  for (const other of others) expect(await kindsOf(other)).toEqual(LIVE);
  await market.builder.buildBlock();
  await updateAll(market, () => 205n);
  for (const other of others) await untilLive(other);
  expect(market.builder.connections()).toBe(1);
  for (const other of others) await other.stop();
  await untilConnections(0);
});

test('without Redis each process reads the sources', async () => {
  const { market, config, served } = world;
  const sharedBy = { redisUrl: 'redis://127.0.0.1:1', prefix: randomUUID() };
  const apis = [1, 2].map(() => startStreamApi({ chain: config, directory: fixedDirectory(served), sharedBy }));
  await updateAll(market, () => 200n);
  for (const api of apis) await untilLive(await api);
  await untilConnections(2);
  for (const api of apis) await (await api).stop();
});

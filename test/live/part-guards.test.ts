import { expect, onTestFinished, test, vi } from 'vitest';
import { LiveConfig } from '../../config/live-schema.ts';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startedWorld } from '../harness/open-world.ts';
import { quotesAfter, quotesOf } from './part-quotes.ts';
import { partSource, startPartWorld } from './part-world.ts';

/* Pools with guards take calls one after the other: the part must not pass meanwhile. */

const world = startedWorld(() =>
  startPartWorld({ flatPools: 2, packedPools: 0, guards: ['stopLoss'], node: { form: 'payload' } }),
);

test('stop losses are read with prices, and by no call after them', async () => {
  for (const hundredths of [195n, 197n, 199n]) await quotesAfter(world, await world.price(hundredths));
  // The calls without other code at any address: those that show the part are alike.
  const plain = world.node.requests.flatMap(({ method, params: [call, tag, code] }) => {
    const { to, data } = (call ?? {}) as { readonly to?: string; readonly data?: string };
    return method === 'eth_call' && tag === 'pending' && !code && to ? [data] : [];
  });
  expect(plain).not.toEqual([]);
  expect(new Set(plain).size).toBe(1);
});

test('the operator sees that parts pass while slow nodes are asked', { timeout: 90_000 }, async () => {
  const { config, market, node } = world;
  const far = await startRpcProxy(node.url);
  onTestFinished(far.stop);
  far.misbehave({ kind: 'slow', ms: 150 }, ({ params }) => params.includes('pending'));
  const live = LiveConfig.parse(partSource({ ...node, url: far.url }));
  const api = world.open({ chain: { ...config, live } });
  onTestFinished(() => api.stop());
  const end = node.run(async ({ number, timeSecs }) => {
    for (const { maker } of market.pools)
      node.submit((await maker.sign({ number, timeSecs, slot: 0n }, priceAround(200n))).transaction);
  });
  onTestFinished(end);
  const isWarned = async () => {
    await quotesOf(world, {}, api);
    expect(Object.values(api.warnings())).toEqual([expect.stringContaining('too slow for guarded pools')]);
  };
  await vi.waitFor(isWarned, 60_000);
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { AHEAD_MS } from '../../quoting/parts/next-part.ts';
import { startedWorld } from '../harness/open-world.ts';
import { quotesAfter, quotesOf } from './part-quotes.ts';
import { startPartWorld } from './part-world.ts';

/* Nodes show parts of a block shortly before they have the block below. */

const world = startedWorld(() =>
  startPartWorld({ guards: ['none'], node: { form: 'payload', earlyMs: Infinity } }, () => ({ wsUrls: [] })),
);

test('parts that come before the block below are quoted for a moment, then only once that is the head', async () => {
  let aheadMs = 0;
  const api = world.open({ now: () => performance.now() / 10 + aheadMs });
  onTestFinished(() => api.stop());
  const { number } = await world.price(200n);
  const early = await vi.waitUntil(async () => {
    const part = await world.node.nextPart();
    return part.number > number && part;
  });
  const part = await world.price(201n);
  const basesOf = async () => (await quotesOf(world, {}, api)).map(({ basis }) => basis);
  const all = (basis: object) => world.market.pools.map(() => expect.objectContaining(basis));
  const bases = (await quotesAfter(world, part, api)).map(({ basis }) => basis);
  expect(part.number).toBe(early.number);
  expect(bases).toEqual(all({ kind: 'live', blockNumber: Number(number) - 1, targetBlockNumber: Number(number) + 1 }));
  aheadMs = AHEAD_MS;
  await vi.waitFor(async () => {
    const now = await basesOf();
    expect(now).toEqual(all({ kind: 'committed', blockNumber: Number(number) - 1 }));
    expect(Object.values(api.warnings())).toContainEqual(expect.stringContaining('(ahead)'));
  });
  await world.node.showHead();
  await vi.waitFor(async () => expect(await basesOf()).toEqual(all({ kind: 'live', blockNumber: Number(number) })));
});

import { expect, test, vi } from 'vitest';
import type { ProxiedRequest } from '../../devnet/misbehaviour.ts';
import { startedWorld } from '../harness/open-world.ts';
import { quotesAfter, quotesOf } from './part-quotes.ts';
import { levelsOf } from './part-traps.ts';
import { startPartWorld } from './part-world.ts';

/* Nodes that are far away are at a later part than the one that they showed a call before. */

const world = startedWorld(() => startPartWorld({ guards: ['none'], node: { form: 'payload' } }));

test('prices of calls that all show a later part are after that one, and no call is made again for it', async () => {
  const used: string[] = [];
  /** While it stands still, no part becomes too old, and none is polled. */
  let stoppedAt: number | undefined;
  const api = world.open({
    now: () => stoppedAt ?? performance.now(),
    observeLive: () => ({
      count: (_, outcome) => used.push(outcome),
      skipped: () => undefined,
      suspended: () => undefined,
      sealed: () => undefined,
    }),
  });
  const { node, market } = world;
  /** Not of the part alone, as one that waited until it was shown. */
  const isOfPools = ({ params: [call, block] }: ProxiedRequest) =>
    block === 'pending' && market.pools.some(({ address }) => JSON.stringify(call).includes(address.slice(2)));
  /** Quotes pools that are not read at the newest part that was pushed, when nodes may be a part further. */
  const quotesAtHead = async (isFurther: boolean) => {
    await world.price(200n);
    // No call that shows the part before is under way.
    const before = used.length;
    await vi.waitFor(async () => {
      // No part is used while the head is not known, which requests poll.
      await quotesOf(world, { basis: 'committed' }, api);
      expect(used.slice(before)).toContain('used');
    });
    stoppedAt = performance.now();
    node.pause(true);
    const part = isFurther ? await world.price(205n) : node.part();
    const sent = node.requests.length;
    const quotes = await quotesOf(world, {}, api);
    const calls = node.requests.slice(sent).filter(isOfPools).length;
    node.pause(false);
    stoppedAt = undefined;
    return { part, quotes, calls };
  };
  await quotesAfter(world, await world.price(199n), api);
  const [near, far] = [await quotesAtHead(false), await quotesAtHead(true)];
  expect(far.calls).toBe(near.calls);
  const basis = { kind: 'live', targetBlockNumber: Number(far.part.number) };
  expect(far.quotes.map((quote) => quote.basis)).toEqual(far.quotes.map(() => expect.objectContaining(basis)));
  // As other processes read them there.
  const right = await quotesAfter(world, await world.price(205n));
  expect(far.quotes.map(levelsOf)).toEqual(right.map(levelsOf));
  expect(far.quotes.map(levelsOf)).not.toEqual(near.quotes.map(levelsOf));
  await api.stop();
});

import { expect, test, vi } from 'vitest';
import type { ProxiedRequest } from '../../devnet/misbehaviour.ts';
import { startedWorld } from '../harness/open-world.ts';
import { quotesAfter, quotesOf } from './part-quotes.ts';
import { levelsOf } from './part-traps.ts';
import { startPartWorld } from './part-world.ts';

/* Nodes that are far away are at a later part than the one that they showed a call before. */

const world = startedWorld(() => startPartWorld({ guards: ['none'], node: { form: 'payload' } }));

/** The pool that is asked for to follow parts, and those whose calls are counted. */
const followed = () => ({ pools: world.market.pools.slice(0, 1).map(({ address }) => address) });
const counted = () => ({ pools: world.market.pools.slice(1).map(({ address }) => address) });
/** Not of the part alone, as one that waited until it was shown. */
const isOfPools = ({ params: [call, block] }: ProxiedRequest) =>
  block === 'pending' && counted().pools.some((address) => JSON.stringify(call).includes(address.slice(2)));

const MIN_PART_MS = 20;

function openApi() {
  const used: string[] = [];
  /** While it stands still, no part becomes too old, and none is polled. */
  let stoppedAt: number | undefined;
  let aheadMs = 0;
  const api = world.open({
    now: () => stoppedAt ?? performance.now() + aheadMs,
    observeLive: () => ({
      count: (_, outcome) => used.push(outcome),
      skipped: () => undefined,
      suspended: () => undefined,
      sealed: () => undefined,
    }),
  });
  /**
   * Quotes pools that are not read at the newest part that was pushed, when nodes may be a part further.
   *
   * @param hundredths the price at that part
   */
  const quotesAtHead = async (hundredths: bigint, isFurther: boolean) => {
    const { node } = world;
    // No call that shows a part before is under way.
    await quotesAfter(world, await world.price(hundredths - 9n), api, followed());
    const before = used.length;
    await world.price(hundredths);
    await vi.waitFor(async () => {
      // No part is used while the head is not known, which requests poll.
      await quotesOf(world, { basis: 'committed' }, api);
      expect(used.slice(before)).toContain('used');
    });
    // So long no other part of the block is taken.
    aheadMs += MIN_PART_MS;
    stoppedAt = performance.now() + aheadMs;
    node.pause(true);
    const part = isFurther ? await world.price(205n) : node.part();
    const sent = node.requests.length;
    const quotes = await quotesOf(world, counted(), api);
    const calls = node.requests.slice(sent).filter(isOfPools).length;
    node.pause(false);
    stoppedAt = undefined;
    return { part, quotes, calls };
  };
  return { api, quotesAtHead };
}

type Quoted = Awaited<ReturnType<ReturnType<typeof openApi>['quotesAtHead']>>;

/** Fails unless quotes are after the later part, as other processes read them there. */
async function expectLater(far: Quoted, near: Quoted): Promise<void> {
  const basis = { kind: 'live', targetBlockNumber: Number(far.part.number) };
  expect(far.quotes.map((quote) => quote.basis)).toEqual(far.quotes.map(() => expect.objectContaining(basis)));
  const right = await quotesAfter(world, await world.price(205n), undefined, counted());
  expect(far.quotes.map(levelsOf)).toEqual(right.map(levelsOf));
  expect(far.quotes.map(levelsOf)).not.toEqual(near.quotes.map(levelsOf));
}

test('prices of calls that all show a later part are after that one, and no call is made again for it', async () => {
  // Pools that they read for the first time, of which no call showed anything with the part.
  const [first, second] = [openApi(), openApi()];
  const near = await first.quotesAtHead(200n, false);
  await first.api.stop();
  const far = await second.quotesAtHead(200n, true);
  await second.api.stop();
  expect(far.calls).toBe(near.calls);
  await expectLater(far, near);
});

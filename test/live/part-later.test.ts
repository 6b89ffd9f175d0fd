import { expect, test, vi } from 'vitest';
import type { ProxiedRequest } from '../../devnet/misbehaviour.ts';
import { digestCode } from '../../quoting/calls/answers-digest.ts';
import { startedWorld } from '../harness/open-world.ts';
import { quotesAfter, quotesOf } from './part-quotes.ts';
import { levelsOf } from './part-traps.ts';
import { startPartWorld } from './part-world.ts';

/* Nodes that are far away are at a later part than the one that they showed a call before. */

const world = startedWorld(() => startPartWorld({ guards: ['none'], node: { form: 'payload' } }));

/** The pool that is asked for to follow parts, and those whose calls are counted. */
const followed = () => ({ pools: world.market.pools.slice(0, 1).map(({ address }) => address) });
const counted = () => ({ pools: world.market.pools.slice(1).map(({ address }) => address) });
const [SHOWING_CODE = ''] = digestCode([]).values();
/**
 * How often calls ask for a pool, but for those that show the part and what pools answer. Pools share calls when they
 * come at once: on a busy machine some do not.
 */
const readsIn = (requests: readonly ProxiedRequest[]) =>
  requests
    .filter(({ params }) => params[1] === 'pending')
    .map(({ params }) => JSON.stringify(params))
    .filter((call) => !call.includes(SHOWING_CODE.slice(2)))
    .flatMap((call) => counted().pools.filter((address) => call.includes(address.slice(2)))).length;

const MIN_PART_MS = 20;

function openApi() {
  /** Whether time is to stand still once a part is used. */
  let isStopping = false;
  /** While it stands still, no part becomes too old, and none is polled. */
  let stoppedAt: number | undefined;
  let aheadMs = 0;
  const api = world.open({
    now: () => stoppedAt ?? performance.now() + aheadMs,
    observeLive: () => ({
      count(_, outcome) {
        if (!isStopping || outcome !== 'used') return;
        isStopping = false;
        // So long no other part of the block is taken.
        aheadMs += MIN_PART_MS;
        stoppedAt = performance.now() + aheadMs;
      },
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
    await world.price(hundredths);
    isStopping = true;
    await vi.waitFor(async () => {
      // No part is used while the head is not known, which requests poll.
      await quotesOf(world, { basis: 'committed' }, api);
      expect(stoppedAt).toBeDefined();
    });
    node.pause(true);
    const part = isFurther ? await world.price(205n) : node.part();
    const sent = node.requests.length;
    const quotes = await quotesOf(world, counted(), api);
    const reads = readsIn(node.requests.slice(sent));
    node.pause(false);
    stoppedAt = undefined;
    return { part, quotes, reads };
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
  expect(near.reads).toBeGreaterThan(0);
  expect(far.reads).toBe(near.reads);
  await expectLater(far, near);
});

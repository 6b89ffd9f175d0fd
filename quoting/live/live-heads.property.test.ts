import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import { assertEqual } from '../../test/harness/assert-equal.ts';
import { assertUntil } from '../../test/harness/assert-until.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ACCOUNT, liveChain, MAX_AGE_MS, word } from './live-chain.fixture.ts';

type LiveChain = ReturnType<typeof liveChain>;

afterEach(() => vi.useRealTimers());

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('block' as const), by: fc.integer({ min: -1, max: 2 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('frame' as const),
      ahead: fc.integer({ min: -2, max: 4 }),
      value: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 900 }) }) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** @param sent when each value last came for each block */
async function act({ chain, push, frame, now }: LiveChain, each: Step, sent: Map<string, number>): Promise<void> {
  if (each.do === 'wait') await vi.advanceTimersByTimeAsync(each.ms);
  if (each.do === 'block') {
    if (each.by <= 0) chain.fork += 1;
    await push(Number(chain.head.number) + each.by, chain.fork);
  }
  if (each.do === 'frame') {
    const number = Number(chain.head.number) + each.ahead;
    sent.set(`${number} ${word(each.value)}`, now());
    frame(number, each.value);
  }
}

/** Expects that the block being built goes back only with the committed head. */
function highestBuilt(tracker: LiveChain['tracker']) {
  /** The highest one that was given since the committed head last went back. */
  let highest = 0n;
  let last: BlockHeader | undefined;
  const takeHead = (block: BlockHeader | undefined) => {
    if (block && last && block.hash !== last.hash && block.number <= last.number) highest = 0n;
    last = block;
  };
  // A step may take several heads.
  tracker.onHead(({ block }) => takeHead(block));
  takeHead(tracker.current?.block);
  return {
    takeHead: () => takeHead(tracker.current?.block),
    give: (number: bigint) => {
      expect(number).toBeGreaterThanOrEqual(highest);
      highest = number;
    },
  };
}

/** Expects a block being built to follow its head, with the overrides of the source, which are young. */
function expectBuilt({ heads, now }: LiveChain, block: ReportedHead['block'], sent: ReadonlyMap<string, number>): void {
  const { pending } = block;
  if (!pending) return;
  const ahead = pending.blockNumber - block.number;
  assertEqual(ahead === 1n || ahead === 2n, true);
  assertEqual([pending.timestamp, ...pending.overrides.keys()], [block.timestamp + 2n * ahead, ACCOUNT]);
  const value = pending.overrides.get(ACCOUNT)?.get(word(1));
  const sentAt = sent.get(`${pending.blockNumber} ${value}`) ?? Number.NEGATIVE_INFINITY;
  expect(now() - sentAt).toBeLessThan(MAX_AGE_MS);
  expect(heads.isTooOld(block)).toBe(false);
}

test('whatever comes, a block being built is the next one or that after it, on the head, and its overrides are young', async () => {
  const counts = { live: 0, committed: 0, after: 0 };
  await assertUntil(
    () => Math.min(counts.live, counts.committed) > 500 && counts.after > 50,
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const world = liveChain();
      const { heads, tracker } = world;
      const announced: ReportedHead[] = [];
      heads.onHead((head) => announced.push(head));
      const stopWatching = heads.watch();
      await world.push(10, 0);
      const built = highestBuilt(tracker);
      const sent = new Map<string, number>();
      for (const each of steps) {
        await act(world, each, sent);
        tracker.fresh();
        built.takeHead();
        const last = announced.at(-1);
        for (const head of [heads.current, heads.announced, heads.fresh(), last === heads.current ? last : undefined]) {
          if (!head) continue;
          const { block } = head;
          assertEqual(block.hash, tracker.current?.block.hash);
          expectBuilt(world, block, sent);
          if (block.pending) built.give(block.pending.blockNumber);
          if (block.pending?.blockNumber === block.number + 2n) counts.after += 1;
          counts[block.pending ? 'live' : 'committed'] += 1;
        }
      }
      stopWatching();
    }),
    { numRuns: runs(100) },
  );
});

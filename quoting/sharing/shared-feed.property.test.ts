import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { assertUntil } from '../../test/harness/assert-until.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { FrameMerger } from '../live/frame-merger.fixture.ts';
import { LEASE_MS, RENEW_MS } from './feed-schedule.ts';
import { frameOf, MAX_AGE_MS, now, SOURCES, startRedis } from './sharing-processes.fixture.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const venues = fc.dictionary(fc.constantFrom('1', '2', '3'), fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }), {
  maxKeys: 3,
});
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('frame' as const),
      source: fc.nat({ max: SOURCES.length - 1 }),
      blockNumber: fc.constantFrom(10, 10, 10, 11),
      venues,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 50, 250, 1_000, 4_000) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('change' as const) }) },
);

test('property: over frames, cancels and changes of the reader all processes know what one reader of all frames would', async () => {
  let [live, none, changes] = [0, 0, 0];
  await assertUntil(
    () => Math.min(live, none, changes) > 100,
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const redis = startRedis();
      const model = new FrameMerger(MAX_AGE_MS, now);
      for (const _ of [1, 2, 3]) redis.start();
      await redis.wait(RENEW_MS);
      /** When each source last sent each venue of a block. */
      const sentAt = new Map<string, number>();
      const isTooOldAt = (time: number) => sentAt.values().some((at) => time - at >= MAX_AGE_MS);
      for (const each of steps) {
        if (each.do === 'wait') await redis.wait(each.ms);
        if (each.do === 'frame') {
          const frame = frameOf(each.blockNumber, each.venues, each.source === 1);
          for (const venue of Object.keys(each.venues))
            sentAt.set(`${each.source} ${each.blockNumber} ${venue}`, now());
          if (redis.send(each.source, frame)) model.take({ id: String(each.source) }, frame);
        }
        if (each.do === 'change') {
          // A new reader does not know what was too old before: whoever repeats that says something new.
          if (isTooOldAt(now() + 3 * RENEW_MS + LEASE_MS)) break;
          // The others know what the reader said last.
          await redis.wait(RENEW_MS);
          const reader = [...redis.processes].find(({ feed }) => feed.isReading);
          if (reader) redis.stop(reader);
          await redis.wait(LEASE_MS + RENEW_MS);
          redis.start();
          await redis.wait(RENEW_MS);
          changes += 1;
        }
        const isNone = model.state(undefined) === undefined;
        if (!isNone) await redis.wait(RENEW_MS);
        const expected = model.state(undefined);
        if (expected) live += 1;
        else none += 1;
        for (const { feed } of redis.processes) expect(feed.state()).toEqual(expected);
      }
      for (const process of [...redis.processes]) redis.stop(process);
    }),
    { numRuns: runs(200) },
  );
});

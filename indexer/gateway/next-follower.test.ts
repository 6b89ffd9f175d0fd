import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { type FollowerEvent, newFollower, nextFollower, takesHeaders } from './next-follower.ts';

/* When polls are due, over events at any times. How heads are passed on: `follow-heads.test.ts`. */

const PACE = { blockTimeMs: 1_000, retryMs: 250 };
const hash = fc.constantFrom('0x1', '0x2', '0x3');
const step = fc.record({
  ms: fc.integer({ min: 0, max: 2_000 }),
  took: fc.integer({ min: 0, max: 2_000 }),
  hash,
  kind: fc.constantFrom(
    'polled' as const,
    'polled' as const,
    'pushed' as const,
    'pushed' as const,
    'unusable' as const,
  ),
});

test('polls approach the time of blocks, and pushed headers count from the first poll until one is unusable', () => {
  const property = fc.property(fc.boolean(), fc.array(step, { maxLength: 40 }), (hasFeed, steps) => {
    let [state, now] = [newFollower(hasFeed), 0];
    let [lastHash, isUsable, hasPolled] = ['', hasFeed, false];
    for (const { ms, took, kind, hash } of steps) {
      if (kind !== 'polled' && !takesHeaders(state)) continue;
      now += ms;
      const event: FollowerEvent =
        kind === 'unusable' ? { kind } : kind === 'pushed' ? { kind, hash } : { kind, hash, startedAt: now - took };
      const [next, pauseMs] = nextFollower(state, event, now, PACE);
      // 1 and 2.
      if (kind === 'polled' && hash !== lastHash) expect(pauseMs).toBe(Math.max(250, 950 - took));
      else expect(pauseMs).toBe(250);
      if (kind !== 'unusable') lastHash = hash;
      isUsable &&= kind !== 'unusable';
      hasPolled ||= kind === 'polled';
      // 3.
      expect(takesHeaders(next)).toBe(isUsable && hasPolled);
      state = next;
    }
  });
  fc.assert(property, { numRuns: runs(300) });
});

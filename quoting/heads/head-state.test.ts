import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { heightOf, isWaitDue, isWaitOver, noHeads } from './head-state.ts';
import { FOLLOW_MS } from './heard-heads.ts';
import { nextHeads } from './next-heads.ts';
import { type Head, head } from './test-chain.fixture.ts';

/* When requests wait, where other processes read the chain too. What is taken: `next-heads.test.ts`. */

const PACE = { blockTimeMs: 1_000, minRefreshMs: 500 };
const SHARED_MS = 60_000;

const step = fc.record({
  ms: fc.constantFrom(0, 100, 600, 2_000, FOLLOW_MS, SHARED_MS - 1, SHARED_MS),
  does: fc.constantFrom('push' as const, 'push' as const, 'announce' as const, 'hear' as const, 'wait' as const),
  ahead: fc.nat(2),
});

test('requests wait only while another process was heard recently, for it to hear of the head, or for a height', () => {
  let waits = 0;
  const property = fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
    let [state, now, pushed] = [noHeads<Head>(), 0, 0];
    let heardAt = Number.NEGATIVE_INFINITY;
    let unannounced: Head | undefined;
    const take = (event: Parameters<typeof nextHeads<Head>>[1]) => {
      const [next, { taken }] = nextHeads(state, event, now, PACE);
      state = next;
      unannounced = taken.at(-1)?.head ?? unannounced;
    };
    for (const { ms, does, ahead } of steps) {
      now += ms;
      if (does === 'push') pushed += 1;
      if (does === 'push') take({ kind: 'pushed', head: head(pushed), wallMs: now });
      if (does === 'announce' && state.current) {
        if (unannounced === state.current) unannounced = undefined;
        take({ kind: 'announced', head: state.current });
      }
      if (does === 'hear') {
        heardAt = now;
        take({ kind: 'heard', from: 'another process', number: heightOf(state) + BigInt(ahead) });
      }
      take({ kind: 'time' });
      const isShared = now - heardAt < SHARED_MS;
      const height = heightOf(state) + 1n;
      const isBehind = !isWaitOver(state, height, now);
      expect(isWaitOver(state, height - 1n, now)).toBe(true);
      expect(isWaitDue(state, now)).toBe(isShared && (unannounced !== undefined || isBehind));
      if (isBehind) expect(now - heardAt).toBeLessThan(FOLLOW_MS);
      if (isBehind) waits += 1;
    }
  });
  fc.assert(property, { numRuns: runs(300) });
  expect(waits).toBeGreaterThan(50);
});

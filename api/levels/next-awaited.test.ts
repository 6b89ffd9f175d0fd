import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { numberedAddress } from '../../quoting/pools/served-pool.fixture.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { Snapshot } from '../../quoting/types.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { NONE_MISSING, nextAwaited } from './next-awaited.ts';

/* Which pools frames wait for, over looks at any times. What frames make of it: `frame-contents.test.ts`. */

const BLOCK = { number: 7n, hash: '0x07', timestamp: 7n } as const;
const MAX_MS = 5_000;
const FORGET_MS = 60_000;
const POOLS = [1, 2, 3].map(numberedAddress);

const OUTCOMES = {
  read: { block: BLOCK } as unknown as Snapshot,
  own: new SnapshotError('unavailable', 'the pool simulates no swaps'),
  failed: new SnapshotError('timed_out', 'x', { cause: new RpcFailure('timeout', 'x') }),
  called: undefined,
  waiting: undefined,
};

const became = fc.constantFrom(...(['read', 'own', 'failed', 'called', 'waiting', 'waiting'] as const));
const look = fc.record({
  ms: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 2_000 }) },
    fc.constantFrom(MAX_MS, FORGET_MS - 1, FORGET_MS),
  ),
  became: fc.tuple(became, became, became),
});

test('whatever becomes of pools, a frame waits for those not read until nodes fail to give them for long', () => {
  const property = fc.property(fc.array(look, { maxLength: 60 }), (looks) => {
    let [missing, now] = [NONE_MISSING, 0];
    /** The looks at each pool since it was last read, only waited, or was forgotten. */
    const runsOf: { at: number; became: string }[][] = POOLS.map(() => []);
    for (const { ms, became } of looks) {
      now += ms;
      const pools = became.map((kind, index) => {
        const pool = POOLS[index] ?? numberedAddress(0);
        return { pool, outcome: OUTCOMES[kind], isBeingRead: kind === 'called' };
      });
      const before = new Map(missing);
      const [next, sorted] = nextAwaited(missing, { block: BLOCK, pools }, now, MAX_MS);
      expect(missing).toEqual(before);
      missing = next;
      let unread = 0;
      for (const [index, kind] of became.entries()) {
        let run = runsOf[index] ?? [];
        // 4.
        if (now - (run.at(-1)?.at ?? now) >= FORGET_MS) run = [];
        run.push({ at: now, became: kind });
        const isLong = now - (run[0]?.at ?? now) >= MAX_MS;
        // 3: who waits, and was never failed, is waited for again.
        const onlyWaits = kind === 'waiting' && !run.some((each) => each.became === 'failed');
        const isGivenUp = isLong && kind !== 'read' && kind !== 'own';
        // 1 and 2.
        if (kind !== 'read' && kind !== 'own' && !isGivenUp) unread += 1;
        runsOf[index] = kind === 'read' || kind === 'own' || (onlyWaits && !isGivenUp) ? [] : run;
        if (run.every((each) => each.became === 'waiting')) expect(isGivenUp).toBe(false);
      }
      expect(sorted.unread.length).toBe(unread);
      expect(sorted.read.length).toBe(became.filter((kind) => kind === 'read').length);
      expect(sorted.isAnswered).toBe(became.some((kind) => kind === 'read' || kind === 'own'));
    }
  });
  fc.assert(property, { numRuns: runs(300) });
});

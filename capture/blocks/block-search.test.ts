import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLastBlockUntil } from './block-search.ts';

test('finds the last block at or before a time among any timestamps, in few reads', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 2, maxLength: 300 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (gaps, share) => {
        let time = 0;
        const times = gaps.map((gap) => (time += gap));
        const first = times[0] ?? 0;
        const last = times.at(-1) ?? 0;
        const target = first + Math.floor(share * (last - first + 5));
        let reads = 0;
        const read = async (number: number) => {
          reads += 1;
          return times[number] ?? Number.NaN;
        };
        const high = { number: times.length - 1, timestamp: last };
        const found = await findLastBlockUntil(target, { number: 0, timestamp: first }, high, read);
        expect(found.number).toBe(times.findLastIndex((it) => it <= target));
        expect(reads).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(times.length)) + 2);
      },
    ),
  );
});

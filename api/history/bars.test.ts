import { expect, test } from 'vitest';
import { fillGaps } from './bars.ts';

test('a page makes no more empty intervals than it may show, however far its bars are apart', () => {
  const secs = 60;
  const bars = Array.from({ length: 1_001 }, (_, n) => ({ startTs: 1_790_000_040 - n * 1_000 * secs }));
  const made: number[] = [];
  const empty = (startTs: number) => ({ startTs: made[made.push(startTs) - 1] ?? 0 });
  const filled = fillGaps(bars, { endTs: 1_790_000_100, secs, most: 1_001 }, empty);
  expect(filled.slice(0, 1_001)).toEqual(
    Array.from({ length: 1_001 }, (_, n) => ({ startTs: 1_790_000_040 - n * secs })),
  );
  expect(made.length).toBeLessThan(2_002);
});

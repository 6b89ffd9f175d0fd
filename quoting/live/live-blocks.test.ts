import { expect, test } from 'vitest';
import { frameWaitMs } from './live-blocks.ts';

test('a read waits a second for a frame of sources that sent one in the last five, and not for silent ones', () => {
  expect(frameWaitMs(null, 1_000_000)).toBe(0);
  expect(frameWaitMs(1_000_000, 1_000_000)).toBe(1_000);
  expect(frameWaitMs(1_000_000, 1_005_000)).toBe(1_000);
  expect(frameWaitMs(1_000_000, 1_005_001)).toBe(0);
});

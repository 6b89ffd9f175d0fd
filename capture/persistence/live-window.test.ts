import { beforeEach, expect, test } from 'vitest';
import { pause } from '../../runtime/pause.ts';
import { pass, stopTime } from '../../test/harness/stopped-time.ts';
import type { LiveRead } from './live-quotes.ts';
import { readLiveWindow } from './live-window.ts';

const CALL_MS = 50;

beforeEach(stopTime);

/**
 * Reads a window: so many calls after each read begins show its state, and further ones read it. A call takes 50 ms.
 *
 * @returns by moment, how many milliseconds after the first one its state was shown; null: it says nothing
 */
async function readAfterCalls(calls: readonly number[], furtherCalls: number) {
  const now = () => performance.now();
  const startedAt = now();
  let reads = 0;
  const readLive = async (_pools: unknown, until: number): Promise<LiveRead | null> => {
    await pause(CALL_MS * (calls[reads++] ?? 0));
    if (now() > until) return null;
    const number = BigInt(Math.round(now() - startedAt));
    await pause(CALL_MS * furtherCalls);
    return { number, quotes: new Map() };
  };
  const reading = readLiveWindow({ readLive, now }, []);
  await pass(10_000);
  const { shown, later } = await reading;
  return { reads, shownAt: [shown, ...later].map((read) => (read ? Number(read.number) : null)) };
}

test.each([
  ['in time', [1, 1, 2], [50, 250, 1_100]],
  ['too late after 200 ms', [1, 4, 1], [50, null, 1_050]],
  ['too late after 1 s', [2, 1, 4], [100, 250, null]],
] as const)(
  'a moment is that of the state that was read, not of the end of its calls: %s',
  async (_name, calls, shownAt) => {
    for (const furtherCalls of [0, 4, 40])
      expect(await readAfterCalls(calls, furtherCalls)).toEqual({ reads: 3, shownAt });
  },
);

test('without live prices in time at once, nothing is read later', async () => {
  expect(await readAfterCalls([3.5, 1, 1], 0)).toEqual({ reads: 1, shownAt: [null, null, null] });
});

import { beforeEach, expect, test } from 'vitest';
import { LiveConfig } from '../../config/live-schema.ts';
import { pass, stopTime } from '../../test/harness/stopped-time.ts';
import type { LiveRead } from './live-quotes.ts';
import { MAX_LATE_MS, readLiveWindow } from './live-window.ts';

const PARTS = { live: LiveConfig.parse({ sources: [{ kind: 'preconfirmed', rpcUrls: ['http://127.0.0.1:1'] }] }) };

beforeEach(stopTime);

/** Reads a window whose reads take this long each. @returns by moment, the number of the read; null: it says nothing */
async function readTaking(takes: readonly number[], chain: typeof PARTS | object = {}) {
  const clock = { ms: 5_000, reads: 0 };
  const readLive = async (): Promise<LiveRead> => {
    clock.ms += takes[clock.reads] ?? 0;
    return { number: BigInt(clock.reads++), quotes: new Map() };
  };
  const reading = readLiveWindow({ chain, readLive, now: () => clock.ms }, []);
  await pass(2_000);
  const { shown, later } = await reading;
  return [shown, ...later].map((read) => (read ? Number(read.number) : null));
}

test.each([
  ['in time', [0, 200, 950], [0, 1, 2]],
  ['too late after 200 ms', [0, 200 + MAX_LATE_MS + 1, 0], [0, null, 2]],
  ['too late after 1 s', [MAX_LATE_MS, 50, 1_001], [0, 1, null]],
  ['too late at once, after which nothing is read', [MAX_LATE_MS + 1, 0, 0], [null, null, null]],
] as const)('a live read says nothing of a moment that it missed: %s', async (_name, takes, expected) => {
  expect(await readTaking(takes)).toEqual(expected);
});

test('after parts the block is compared, so nothing is read at once', async () => {
  expect(await readTaking([0, 0], PARTS)).toEqual([null, 0, 1]);
});

import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createDisplay, formatDuration } from './display.ts';

const PLAN = { schema: 'onchain_2', replaces: 'onchain_1', refetched: [1, 56], resumed: false };
const PROGRESS = { totalBlocks: 200, doneBlocks: 50, events: 1_234, eventsPerSec: 99, secondsLeft: 75 };
const OUTCOME = { ...PLAN, blocks: 200, events: 2_000, seconds: 3_725, removable: ['onchain_1'] };

/** What a display writes to a terminal, or to a file. */
function shown(isTTY: boolean, json: boolean): string {
  const out = new PassThrough();
  const terminal = { isTTY, columns: 120, cursorTo: () => true, moveCursor: () => true, clearLine: () => true };
  const display = createDisplay(Object.assign(out, terminal) as unknown as NodeJS.WriteStream, json);
  display.begin(PLAN);
  display.progress(PROGRESS);
  display.progress({ ...PROGRESS, doneBlocks: 51 });
  display.stop();
  display.end(OUTCOME);
  return String(out.read());
}

test('a file gets one line every few seconds', () => {
  expect(shown(false, false).split('\n')).toEqual([
    'Filling "onchain_2" ("onchain_1" serves meanwhile, logs of chain 1, 56 from the nodes)',
    '50/200 blocks | 1234 events, 99/s | 1m 15s left',
    'Readers are served from "onchain_2": 200 blocks, 2000 events, 1h 2m 5s.',
    'An indexer that wrote "onchain_1" ends with exit code 75; started again, it goes on here.',
    'No longer needed: npm run backfill -- drop onchain_1',
    '',
  ]);
});

test('JSON has one object per line', () => {
  const lines = shown(true, true).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { type: 'begin', ...PLAN },
    { type: 'progress', ...PROGRESS },
    { type: 'end', ...OUTCOME },
  ]);
});

test('a terminal gets a bar with blocks, events, rate and time left', () => {
  const text = shown(true, false);
  expect(text).toMatch(/█░+ 25% \| 50\/200 blocks \| 1234 events, 99\/s \| 1m 15s left/);
  expect(text).toContain('51/200 blocks');
  expect(text).toContain('Readers are served from "onchain_2"');
});

test.each([
  [0, '0s'],
  [59, '59s'],
  [60, '1m 0s'],
  [3_600, '1h 0m 0s'],
  [90_061, '25h 1m 1s'],
])('%i seconds are %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

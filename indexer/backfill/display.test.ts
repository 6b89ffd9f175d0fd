import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createDisplay, type Display, formatDuration } from './display.ts';

const PLAN = { schema: 'onchain_2', replaces: 'onchain_1', refetched: [1, 56], resumed: false };
const PROGRESS = { totalBlocks: 200, doneBlocks: 50, events: 1_234, eventsPerSec: 99, secondsLeft: 75 };
const OUTCOME = { ...PLAN, blocks: 200, events: 2_000, seconds: 3_725, removable: ['onchain_1'] };

const WAIT = { for: 'logs of chain 56 from its nodes', seconds: 65 };

/** What a display writes to a terminal of so many columns, or to a file. */
function written(isTTY: boolean, json: boolean, use: (display: Display) => void, columns = 120): string {
  const out = new PassThrough();
  const terminal = { isTTY, columns, cursorTo: () => true, moveCursor: () => true, clearLine: () => true };
  use(createDisplay(Object.assign(out, terminal) as unknown as NodeJS.WriteStream, json));
  return String(out.read() ?? '');
}

function shown(isTTY: boolean, json: boolean): string {
  return written(isTTY, json, (display) => {
    display.begin(PLAN);
    display.progress(PROGRESS, null);
    display.progress({ ...PROGRESS, doneBlocks: 51 }, null);
    display.stop();
    display.end(OUTCOME);
  });
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

test('what it waits for takes the place of rate and time left, in words and for how long', () => {
  const wait = (display: Display) => {
    display.progress(PROGRESS, WAIT);
    display.stop();
  };
  expect(written(false, false, wait)).toBe('waiting 1m 5s for logs of chain 56 from its nodes | 50/200 blocks\n');
  expect(written(true, false, wait)).toContain(
    ' 25% | waiting 1m 5s for logs of chain 56 from its nodes | 50/200 blocks',
  );
  expect(written(true, false, wait, 80)).toContain(' 25% | waiting 1m 5s for logs of chain 56 from its nodes');
  expect(JSON.parse(written(false, true, wait))).toEqual({ type: 'progress', ...PROGRESS, waiting: WAIT });
});

test('what it waits for before there is a bar is a line of its own', () => {
  const wait = (display: Display) => {
    display.progress(null, null);
    display.progress(null, WAIT);
    display.progress(null, { ...WAIT, seconds: 66 });
  };
  for (const isTTY of [false, true]) {
    expect(written(isTTY, false, wait)).toBe('waiting 1m 5s for logs of chain 56 from its nodes\n');
  }
  expect(JSON.parse(written(false, true, wait))).toEqual({ type: 'waiting', ...WAIT });
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

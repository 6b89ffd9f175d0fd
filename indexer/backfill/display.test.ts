import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createDisplay, type Display } from './display.ts';

const PLAN = { schema: 'onchain_2', replaces: 'onchain_1', refetched: [1, 56], resumed: false };
const PROGRESS = { totalBlocks: 200, doneBlocks: 50, events: 1_234 };
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

test('a file gets lines with blocks, time left and events', () => {
  const [begin, first, ...others] = shown(false, false).split('\n');
  expect(begin).toBe('Filling "onchain_2" ("onchain_1" serves meanwhile, logs of chain 1, 56 from the nodes)');
  expect(first).toMatch(/░ 25% \| 50\/200 blocks, .* left \| 1234 events$/);
  expect(others.slice(-4)).toEqual([
    'Readers are served from "onchain_2": 200 blocks, 2000 events, 3725 s.',
    'An indexer that wrote "onchain_1" ends with exit code 75; started again, it continues here.',
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

test('a terminal gets a bar with blocks and events', () => {
  const text = shown(true, false);
  expect(text).toMatch(/█░+ 25% \| 50\/200 blocks, .* left \| 1234 events/);
  expect(text).toContain('51/200 blocks');
  expect(text).toContain('Readers are served from "onchain_2"');
});

test('what it waits for takes the place of events, in words and for how long', () => {
  const wait = (display: Display) => {
    display.progress(PROGRESS, WAIT);
    display.stop();
  };
  for (const isTTY of [false, true]) {
    expect(written(isTTY, false, wait)).toContain('left | waiting 65 s for logs of chain 56 from its nodes');
  }
  expect(JSON.parse(written(false, true, wait))).toEqual({ type: 'progress', ...PROGRESS, waiting: WAIT });
});

test('what it waits for before there is a bar is a line of its own', () => {
  const wait = (display: Display) => {
    display.progress(null, null);
    display.progress(null, WAIT);
    display.progress(null, { ...WAIT, seconds: 66 });
  };
  for (const isTTY of [false, true]) {
    expect(written(isTTY, false, wait)).toBe('waiting 65 s for logs of chain 56 from its nodes\n');
  }
  expect(JSON.parse(written(false, true, wait))).toEqual({ type: 'waiting', ...WAIT });
});

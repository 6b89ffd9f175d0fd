import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  LOOK_MS,
  MAX_OPEN_MS,
  nextWindow,
  noWindow,
  WINDOW_BLOCKS,
  type WindowEvent,
  type WindowState,
} from './next-window.ts';

const MINUTE = 60_000;
const BLOCK_MS = 2_000;

const time = (draw = 0): WindowEvent<string> => ({ kind: 'time', draw });

test('a window opens at its moment of the minute, and closes with its last block', () => {
  const start = 1_000 * MINUTE;
  let [state, effects] = nextWindow<string>(noWindow, time(0.5), start, BLOCK_MS);
  expect(effects).toEqual({ open: false, look: false, close: [] });
  [state, effects] = nextWindow(state, time(0.9), start + 29_999, BLOCK_MS);
  expect(effects.open).toBe(false);
  [state, effects] = nextWindow(state, time(0.9), start + 30_000, BLOCK_MS);
  expect(effects.open).toBe(true);
  [state] = nextWindow(state, { kind: 'opened', number: 7n, content: 'shown' }, start + 30_100, BLOCK_MS);
  [state, effects] = nextWindow(state, time(), start + 40_000, BLOCK_MS);
  expect(effects).toEqual({ open: false, look: false, close: [] });
  [state, effects] = nextWindow(state, time(), start + 40_100, BLOCK_MS);
  expect(effects.look).toBe(true);
  [state, effects] = nextWindow(state, { kind: 'head', number: 11n }, start + 40_200, BLOCK_MS);
  expect(effects.close).toEqual([]);
  [state, effects] = nextWindow(state, { kind: 'head', number: 12n }, start + 42_200, BLOCK_MS);
  expect(effects.close).toEqual([{ number: 7n, openedAt: start + 30_100, content: 'shown' }]);
  expect(state.open).toEqual([]);
});

test('what happens in any order keeps the invariants', () => {
  const anyEvent = fc.record({
    afterMs: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 200_000 })),
    kind: fc.constantFrom('time', 'time', 'time', 'head'),
    draw: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    blocks: fc.integer({ min: 0, max: 4 }),
    // Not each window that is due is opened.
    isOpened: fc.boolean(),
  });
  const property = fc.property(fc.array(anyEvent, { maxLength: 100 }), (events) => {
    let state: WindowState<number> = noWindow;
    let [now, head, opened, lookedAt] = [MINUTE, 100n, 0, Number.NEGATIVE_INFINITY];
    const minutes: number[] = [];
    const closed: number[] = [];
    for (const { afterMs, kind, draw, blocks, isOpened } of events) {
      now += afterMs;
      head += BigInt(blocks);
      const event = kind === 'time' ? ({ kind, draw } as const) : ({ kind: 'head', number: head } as const);
      const before: WindowState<number> = state;
      const [next, effects] = nextWindow(before, event, now, BLOCK_MS);
      state = next;
      // 3
      expect(state.open.every(({ openedAt }) => now - openedAt <= MAX_OPEN_MS)).toBe(true);
      if (effects.look) {
        // 4
        expect(before.open.some(({ openedAt }) => now - openedAt >= Number(WINDOW_BLOCKS) * BLOCK_MS)).toBe(true);
        expect(now - lookedAt).toBeGreaterThanOrEqual(LOOK_MS);
        lookedAt = now;
      }
      for (const { number, content } of effects.close) {
        // 2
        expect(head).toBeGreaterThanOrEqual(number + WINDOW_BLOCKS);
        expect(closed).not.toContain(content);
        closed.push(content);
      }
      if (effects.open) {
        minutes.push(Math.floor(now / MINUTE));
        if (isOpened) [state] = nextWindow(state, { kind: 'opened', number: head, content: opened++ }, now, BLOCK_MS);
      }
    }
    // 1
    expect(new Set(minutes).size).toBe(minutes.length);
  });
  fc.assert(property);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { STORAGE } from '../../protocol/stored-layout.ts';
import { isAttemptDue } from './calibration-schedule.ts';

const NAMES = ['fees', STORAGE];
const MINUTE = 60_000;
const row = (what: string, tries: number, decided: string | null = null) => ({
  what,
  decided,
  tries,
  decidedAt: new Date(0),
});

test('a factory is due at once, and never when all is decided', () => {
  expect(isAttemptDue([], NAMES, 0)).toBe(true);
  expect(isAttemptDue([row(STORAGE, 3, 'first')], NAMES, 0)).toBe(true);
  expect(isAttemptDue([row('fees', 1, 'none'), row(STORAGE, 1, 'first')], NAMES, 1e12)).toBe(false);
});

test('the pause after an attempt doubles from a minute to an hour', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), fc.nat(30), (tries, ofStorage) => {
      const rows = [row('fees', tries), row(STORAGE, ofStorage)];
      const pauseMs = Math.min(2 ** (tries - 1), 60) * MINUTE;
      expect(isAttemptDue(rows, NAMES, pauseMs - 1)).toBe(false);
      expect(isAttemptDue(rows, NAMES, pauseMs)).toBe(true);
    }),
  );
});

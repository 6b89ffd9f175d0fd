import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  idle,
  LATE_MS,
  LEFT_MS,
  LOGS_MS,
  nextSchedule,
  PART_MS,
  type PartEvent,
  type ScheduleState,
  SILENT_MS,
} from './part-schedule.ts';

type Timed = PartEvent & { readonly at: number; readonly isWanted?: boolean };

/** When calls begin. */
function callsOf(events: readonly Timed[]): readonly number[] {
  let state: ScheduleState = idle;
  return events.flatMap(({ at, isWanted = true, ...event }) => {
    const [next, { read }] = nextSchedule(state, event, at, isWanted);
    state = next;
    return read ? [at] : [];
  });
}

const ended = (at: number): Timed => ({ kind: 'ended', at });
const time = (at: number): Timed => ({ kind: 'time', at });
const pushed = (at: number): Timed => ({ kind: 'pushed', at });
const heard = (at: number, comesFirst = true): Timed => ({ kind: 'heard', comesFirst, at });

test('a call begins when somebody wants quotes, and then every 200 ms', () => {
  expect(callsOf([{ kind: 'wanted', at: 5 }, ended(8), time(204), time(205), ended(210)])).toEqual([5, 205]);
});

test('at a push at once; polls rest while parts are pushed', () => {
  const events: Timed[] = [{ kind: 'wanted', at: 0 }, ended(3), { kind: 'pushed', at: 50 }, ended(55), time(250)];
  expect(callsOf([...events, time(449), time(50 + SILENT_MS)])).toEqual([0, 50, 450]);
});

test('pushes during a call make one more', () => {
  expect(callsOf([pushed(0), pushed(2), pushed(4), ended(9), ended(12)])).toEqual([0, 9]);
});

test('polls rest while parts come that need no call; logs of a part make one', () => {
  const unchanged = (at: number): Timed => ({ kind: 'unchanged', at });
  expect(callsOf([{ kind: 'wanted', at: 0 }, ended(3), unchanged(200), unchanged(400), time(799), time(800)])).toEqual([
    0, 800,
  ]);
  const logged = (at: number): Timed => ({ kind: 'logged', at });
  expect(callsOf([logged(0), logged(1), ended(2), logged(3), logged(LOGS_MS), ended(110)])).toEqual([0, LOGS_MS]);
});

test('none while nobody wants quotes', () => {
  expect(
    callsOf([
      { kind: 'pushed', at: 0, isWanted: false },
      { ...time(300), isWanted: false },
      { kind: 'wanted', at: 310 },
    ]),
  ).toEqual([310]);
});

test('a process leaves calls to one that comes first', () => {
  expect(callsOf([heard(10), pushed(200), time(299), heard(300), pushed(400), heard(410)])).toEqual([]);
  expect(callsOf([heard(0, false), ended(9), pushed(100)])).toEqual([0, 100]);
});

test('it takes them over before the second part of which it hears nothing, or once a poll is overdue', () => {
  expect(callsOf([heard(10), pushed(200), time(349), time(350)])).toEqual([350]);
  // Calls that take long: the next one has as long.
  expect(callsOf([heard(150), pushed(200), pushed(400), time(449), time(450)])).toEqual([450]);
  expect(callsOf([heard(10), time(309), time(310), ended(320), pushed(330)])).toEqual([310, 330]);
});

test('where it was heard sooner after pushes for some seconds, it is gone after twice that and a little', () => {
  const part = (at: number, afterMs: number) => [pushed(at), heard(at + afterMs)];
  const parts = Array.from({ length: 40 }, (_, index) => part(index * PART_MS, 16)).flat();
  const dueAt = 8_000 + 2 * 16 + LATE_MS;
  expect(callsOf([heard(-1), ...parts, pushed(8_000), time(dueAt - 1), time(dueAt)])).toEqual([dueAt]);
  // After a slow one it has longer for a while.
  const slow = [...parts, ...part(8_000, 48), ...part(8_200, 16)];
  const laterDueAt = 8_400 + 2 * 45 + LATE_MS;
  expect(callsOf([heard(-1), ...slow, pushed(8_400), time(laterDueAt - 1), time(laterDueAt)])).toEqual([laterDueAt]);
});

test('a push that comes after what another process shared of it needs no call', () => {
  const silentAt = 40 + SILENT_MS;
  expect(callsOf([heard(10), pushed(40), time(silentAt + 149), time(silentAt + 150)])).toEqual([silentAt + 150]);
});

const anyEvent = fc.record({
  kind: fc.constantFrom<PartEvent['kind']>('time', 'wanted', 'pushed', 'unchanged', 'logged', 'ended', 'heard'),
  afterMs: fc.integer({ min: 0, max: 250 }),
  comesFirst: fc.boolean(),
  isWanted: fc.boolean(),
});

test('property: invariants hold whatever happens', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
      let [state, now, readAt, heardAt, isReading]: [ScheduleState, number, number, number, boolean] = [
        idle,
        0,
        -Infinity,
        -Infinity,
        false,
      ];
      let [pushedAt, unreadSince, isPushed] = [-Infinity, -Infinity, false];
      for (const { kind, afterMs, comesFirst, isWanted } of events) {
        now += afterMs;
        if (kind === 'ended' && !isReading) continue;
        if (kind === 'ended') isReading = false;
        if (kind === 'heard' && comesFirst) [heardAt, isPushed] = [now, false];
        if (kind === 'unchanged') pushedAt = now;
        const isOther = kind === 'logged' && now - Math.max(readAt, heardAt) >= LOGS_MS;
        if (kind === 'pushed' || isOther) [pushedAt, unreadSince, isPushed] = [now, isPushed ? unreadSince : now, true];
        const [next, { read, wakeAt }] = nextSchedule(
          state,
          kind === 'heard' ? { kind, comesFirst } : { kind },
          now,
          isWanted,
        );
        if (read) {
          expect({ isReading, isWanted }).toEqual({ isReading: false, isWanted: true });
          expect(now - heardAt >= LEFT_MS || (isPushed && now - unreadSince >= LATE_MS)).toBe(true);
          if (!isPushed) expect(now - readAt >= PART_MS && now - pushedAt >= SILENT_MS).toBe(true);
          [isReading, readAt, isPushed] = [true, now, false];
        } else if (isWanted && !isReading) {
          // It waits for a time that comes.
          expect(wakeAt).toBeGreaterThan(now);
          expect(wakeAt).toBeLessThanOrEqual(now + SILENT_MS + PART_MS);
        }
        state = next;
      }
    }),
  );
});

import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { startSharedClock } from './shared-clock.ts';
import { heldTime, MAX_DRIFT, nextOffsets, type Offsets, offsetsAt } from './shared-time.ts';

/*
 * Processes whose clocks differ, and a reader that goes from one to another.
 * Times of the shared clock are the true ones.
 */

const MAX_ANSWER_MS = 40;
/** Clocks run this much too fast or slow by the true time. */
const DRIFT = 0.99 * MAX_DRIFT;
const SAMPLE_MS = 2_000;

const anyProcess = fc.record({
  ahead: fc.integer({ min: -5_000, max: 5_000 }),
  drift: fc.double({ min: -DRIFT, max: DRIFT, noNaN: true }),
  answers: fc.array(fc.tuple(fc.nat(MAX_ANSWER_MS / 2), fc.nat(MAX_ANSWER_MS / 2)), { minLength: 1, maxLength: 8 }),
});

type Process = typeof anyProcess extends fc.Arbitrary<infer P> ? P : never;

/** Gives the stamp of a process that begins at a time, and when it is given. */
function stampsOf({ ahead, drift, answers }: Process) {
  const clockAt = (time: number) => ahead + time * (1 + drift);
  const timeAt = (clock: number) => (clock - ahead) / (1 + drift);
  let [offsets, sampledAt, last, index]: [Offsets | null, number, number, number] = [null, 0, 0, 0];
  return (begunAt: number) => {
    // Samples that were due.
    while (offsets === null || begunAt - sampledAt >= SAMPLE_MS) {
      const [there, back] = answers[index % answers.length] ?? [0, 0];
      index += 1;
      sampledAt = offsets === null ? begunAt : sampledAt + SAMPLE_MS;
      const sentAt = sampledAt - there - back;
      const sample = { sharedAt: sentAt + there, sentAt: clockAt(sentAt), receivedAt: clockAt(sampledAt) };
      offsets = nextOffsets(offsets, sample);
    }
    const known = offsets;
    const boundAt = (time: number, bound: 'least' | 'most') => clockAt(time) + offsetsAt(known, clockAt(time))[bound];
    last = heldTime(Math.floor(boundAt(begunAt, 'most')), last);
    // It is given once it is over by the least of what is known.
    let endedAt = begunAt;
    for (let left = last - boundAt(endedAt, 'least'); left > 0; left = last - boundAt(endedAt, 'least'))
      endedAt = timeAt(clockAt(endedAt) + Math.max(left, 1e-6));
    return { shown: last, endedAt };
  };
}

test('whatever clocks and answers are like, a reader who has a time gets no earlier one from any process', () => {
  const property = fc.property(
    fc.array(anyProcess, { minLength: 2, maxLength: 3 }),
    fc.array(fc.tuple(fc.nat(2), fc.oneof(fc.constant(0), fc.nat(4_000))), { maxLength: 80 }),
    (processes, steps) => {
      const opened = processes.map(stampsOf);
      let [time, seen] = [100_000, 0];
      for (const [step, ms] of steps) {
        time += ms;
        const stamp = opened[step % opened.length]?.(time);
        if (!stamp) continue;
        expect(stamp.shown).toBeGreaterThanOrEqual(seen);
        // It is a time between the beginning and the end, in whole milliseconds.
        expect(stamp.shown).toBeGreaterThan(time - 1 - 1e-6);
        expect(stamp.shown).toBeLessThanOrEqual(stamp.endedAt + 1e-6);
        // The end comes after what one answer takes, and what drifts between samples.
        expect(stamp.endedAt - time).toBeLessThan(MAX_ANSWER_MS + 4 * MAX_DRIFT * SAMPLE_MS + 1);
        [time, seen] = [stamp.endedAt, stamp.shown];
      }
    },
  );
  // The answer took longer than a clock measured that runs slow.
  const exact: Process = { ahead: 0, drift: 0, answers: [[0, 0]] };
  const slow: Process = { ahead: 0, drift: -3.6e-13, answers: [[0, 1]] };
  const toSlow: [number, number][] = [
    [1, 3_610],
    [0, 0],
  ];
  fc.assert(property, { numRuns: runs(500), examples: [[[slow, exact], toSlow]] });
});

test('the clock of a process is held rather than set back, but not for long', () => {
  expect([heldTime(10, 9), heldTime(9, 10), heldTime(0, 5_000), heldTime(0, 5_001)]).toEqual([10, 10, 5_000, 0]);
});

test('samples that contradict each other, as after a clock was set, count no more than the last one', () => {
  const before = nextOffsets(null, { sharedAt: 1_000, sentAt: 0, receivedAt: 2 });
  // Of the longest time between question and answer, as clocks run, and a microsecond.
  expect(before).toEqual({ least: 998, most: expect.closeTo(1_000.002, 6), at: 2 });
  expect(nextOffsets(before, { sharedAt: 1_001.5, sentAt: 2, receivedAt: 3 })).toMatchObject({ least: 998.5 });
  const other = { sharedAt: 9_000, sentAt: 3, receivedAt: 5 };
  expect(nextOffsets(before, other)).toEqual({ least: 8_995, most: expect.closeTo(8_997.002, 6), at: 5 });
  const late = { sharedAt: 21_000, sentAt: 20_001, receivedAt: 20_003 };
  expect(nextOffsets(before, late)).toEqual({ least: 997, most: expect.closeTo(999.002, 6), at: 20_003 });
});

test('until Redis answers the clock is that of the process, then that of Redis, in whole milliseconds', async () => {
  vi.useFakeTimers();
  try {
    let [now, isDown] = [500, true];
    const time = vi.fn(async () => {
      if (isDown) throw new Error('Redis is unreachable');
      return [7, 250_400];
    });
    const redis = Object.assign(new EventEmitter(), { time, status: 'ready' as const });
    const clocks = { now: () => now, wallClock: () => 1_000_000 };
    const { clock, stamp, stop } = await startSharedClock(redis as never, clocks);
    await vi.advanceTimersByTimeAsync(0);
    expect([clock(), await stamp()]).toEqual([1_000_000, 1_000_000]);
    isDown = false;
    redis.emit('ready');
    await vi.advanceTimersByTimeAsync(0);
    // That clock was wrong by more than some seconds.
    expect([clock(), await stamp()]).toEqual([7_250, 7_250]);
    now += 1.7;
    expect([clock(), await stamp()]).toEqual([7_252, 7_252]);
    isDown = true;
    await vi.advanceTimersByTimeAsync(2_000);
    expect([clock(), time.mock.calls.length]).toEqual([7_252, 8]);
    stop();
  } finally {
    vi.useRealTimers();
  }
});

test('a stamp is given once its time is over for sure, and soon and near the true time also where Redis is gone', async () => {
  vi.useFakeTimers();
  try {
    let now = 0;
    const time = async () => {
      now += 4;
      return [7, 1_000 * now];
    };
    const redis = Object.assign(new EventEmitter(), { time, status: 'ready' as string });
    const { clock, stamp, stop } = await startSharedClock(redis as never, { now: () => now, wallClock: () => 0 });
    redis.status = 'end';
    await vi.advanceTimersByTimeAsync(0);
    const waitOf = async () => {
      const [begunAt, atLeast] = [now, clock()];
      let shown: number | null = null;
      void stamp().then((given) => {
        shown = given;
      });
      await vi.advanceTimersByTimeAsync(0);
      while (shown === null) {
        now += 1;
        await vi.advanceTimersByTimeAsync(1);
      }
      return { waitMs: now - begunAt, isOver: clock() >= shown, ahead: shown - atLeast };
    };
    expect(await waitOf()).toEqual({ waitMs: 5, isOver: true, ahead: 4 });
    now += 3_600_000;
    expect(await waitOf()).toEqual({ waitMs: 14, isOver: true, ahead: 14 });
    stop();
  } finally {
    vi.useRealTimers();
  }
});

import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { startSharedClock } from './shared-clock.ts';
import { heldTime, nextOffset } from './shared-time.ts';

/*
 * Processes whose clocks differ, and a reader that goes from one to another.
 * Times of the shared clock are the true ones.
 */

const MAX_ANSWER_MS = 40;
/** Clocks run this much too fast or slow. */
const MAX_DRIFT = 1e-4;
const SAMPLE_MS = 10_000;

const process = fc.record({
  ahead: fc.integer({ min: -5_000, max: 5_000 }),
  drift: fc.double({ min: -MAX_DRIFT, max: MAX_DRIFT, noNaN: true }),
  answers: fc.array(fc.tuple(fc.nat(MAX_ANSWER_MS / 2), fc.nat(MAX_ANSWER_MS / 2)), { minLength: 1, maxLength: 8 }),
});

test('whatever clocks and answers are like, a reader sees no earlier time at another process', () => {
  const property = fc.property(
    fc.array(process, { minLength: 2, maxLength: 3 }),
    fc.array(fc.nat(4_000), { maxLength: 80 }),
    (processes, steps) => {
      const opened = processes.map(({ ahead, drift, answers }) => {
        const clockAt = (time: number) => ahead + time * (1 + drift);
        let [offset, sampledAt, last, index]: [number | null, number, number, number] = [null, 0, 0, 0];
        return (time: number) => {
          // Samples that were due.
          while (offset === null || time - sampledAt >= SAMPLE_MS) {
            const [there, back] = answers[index % answers.length] ?? [0, 0];
            index += 1;
            const sentAt = offset === null ? time - there - back : sampledAt + SAMPLE_MS - there - back;
            const sample = {
              sharedAt: sentAt + there,
              sentAt: clockAt(sentAt),
              receivedAt: clockAt(sentAt + there + back),
            };
            offset = nextOffset(offset, sample);
            sampledAt = sentAt + there + back;
          }
          last = heldTime(clockAt(time) + offset, last);
          return last;
        };
      });
      // What drifts between two samples, of two clocks, and an answer.
      const least = MAX_ANSWER_MS + 2 * 2 * MAX_DRIFT * SAMPLE_MS;
      let [time, seen] = [100_000, 0];
      for (const [step, ms] of steps.entries()) {
        time += least + ms;
        const shown = opened[step % opened.length]?.(time) ?? 0;
        expect(shown).toBeGreaterThanOrEqual(seen);
        expect(Math.abs(shown - time)).toBeLessThan(least);
        seen = shown;
      }
    },
  );
  fc.assert(property, { numRuns: runs(500) });
});

test('the clock of a process is held rather than set back, but not for long', () => {
  expect([heldTime(10, 9), heldTime(9, 10), heldTime(0, 5_000), heldTime(0, 5_001)]).toEqual([10, 10, 5_000, 0]);
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
    const { clock, stop } = await startSharedClock(redis as never, { now: () => now, wallClock: () => 1_000_000 });
    await vi.advanceTimersByTimeAsync(0);
    expect(clock()).toBe(1_000_000);
    isDown = false;
    redis.emit('ready');
    await vi.advanceTimersByTimeAsync(0);
    expect(clock()).toBe(7_250);
    now += 1.7;
    expect(clock()).toBe(7_252);
    isDown = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([clock(), time.mock.calls.length]).toEqual([7_252, 8]);
    stop();
  } finally {
    vi.useRealTimers();
  }
});

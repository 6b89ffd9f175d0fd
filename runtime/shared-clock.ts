import { type EventEmitter, once } from 'node:events';
import type { Redis } from 'ioredis';
import type { Clock, Clocks } from './clock.ts';
import { pause } from './pause.ts';
import { startRepeating } from './repeat.ts';
import { heldTime, nextOffsets, type Offsets, offsetsAt } from './shared-time.ts';

const SAMPLE_MS = 2_000;
const SAMPLES = 5;
/** How long a start waits for Redis. */
const READY_MS = 1_000;
/** How often a stamp waits a millisecond at the most: Redis may have answered late. */
const MAX_WAITS = 20;

/**
 * Gives Unix milliseconds between its call and its end. So who has one, and then asks any process for another,
 * gets no earlier one.
 */
export type Stamp = () => Promise<number>;

/**
 * Starts a clock of Unix milliseconds that processes of one Redis share, though their own clocks differ: clients that
 * go from one process to another see no earlier time there. While Redis was never reached, it is that of the process.
 *
 * @returns `clock`: not ahead of the shared time
 */
export async function startSharedClock(
  redis: EventEmitter & Pick<Redis, 'time' | 'status'>,
  { now, wallClock }: Clocks,
): Promise<{ readonly clock: Clock; readonly stamp: Stamp; readonly stop: () => void }> {
  let offsets: Offsets | null = null;
  let last = Number.NEGATIVE_INFINITY;
  const sample = async () => {
    // The quickest of several answers says most.
    for (let samples = 0; samples < SAMPLES && redis.status === 'ready'; samples += 1) {
      const sentAt = now();
      const answer = await redis.time().catch(() => null);
      if (!answer) return;
      const [seconds, micros] = answer.map(Number) as [number, number];
      offsets = nextOffsets(offsets, { sharedAt: seconds * 1_000 + micros / 1_000, sentAt, receivedAt: now() });
    }
  };
  // Nothing is shown before, if Redis can be reached.
  if (redis.status !== 'ready')
    await once(redis, 'ready', { signal: AbortSignal.timeout(READY_MS) }).catch(() => undefined);
  await sample();
  redis.on('ready', sample);
  const stopRepeating = startRepeating(sample, SAMPLE_MS);
  const stop = () => {
    redis.off('ready', sample);
    stopRepeating();
  };
  const timeBy = (bound: 'least' | 'most') => {
    const at = now();
    return offsets ? at + offsetsAt(offsets, at)[bound] : wallClock();
  };
  const clock = () => Math.floor(timeBy('least'));
  const stamp = async () => {
    last = heldTime(Math.floor(timeBy('most')), last);
    const shown = last;
    for (let waits = 0; waits < MAX_WAITS && timeBy('least') < shown; waits += 1) await pause(1);
    return shown;
  };
  return { clock, stamp, stop };
}

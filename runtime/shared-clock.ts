import { type EventEmitter, once } from 'node:events';
import type { Redis } from 'ioredis';
import type { Clock, Clocks } from './clock.ts';
import { startRepeating } from './repeat.ts';
import { heldTime, nextOffset } from './shared-time.ts';

const SAMPLE_MS = 10_000;
const SAMPLES = 5;
/** How long a start waits for Redis. */
const READY_MS = 1_000;

/**
 * Starts a clock of Unix milliseconds that processes of one Redis share, though their own clocks differ: clients that
 * go from one process to another see no earlier time there. While Redis was never reached, it is that of the process.
 */
export async function startSharedClock(
  redis: EventEmitter & Pick<Redis, 'time' | 'status'>,
  { now, wallClock }: Clocks,
): Promise<{ readonly clock: Clock; readonly stop: () => void }> {
  let offset: number | null = null;
  let last = Number.NEGATIVE_INFINITY;
  const sample = async () => {
    // The quickest of several answers says most.
    for (let samples = 0; samples < SAMPLES && redis.status === 'ready'; samples += 1) {
      const sentAt = now();
      const answer = await redis.time().catch(() => null);
      if (!answer) return;
      const [seconds, micros] = answer.map(Number) as [number, number];
      offset = nextOffset(offset, { sharedAt: seconds * 1_000 + micros / 1_000, sentAt, receivedAt: now() });
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
  const clock = () => {
    last = heldTime(Math.floor(offset === null ? wallClock() : now() + offset), last);
    return last;
  };
  return { clock, stop };
}

import { onTestFinished, vi } from 'vitest';
import { describeWait } from './describe-wait.ts';

/**
 * Stops the timers and the clock of the process until the test ends: time passes by {@link pass} alone, also for pauses
 * and timeouts of `runtime/`. Sockets and promises continue,
 * and so do `AbortSignal.timeout` and `node:timers/promises`.
 */
export function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

/** Lets time pass, and what that starts begin. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

/** Lets time pass in steps of 5 ms until something holds. @throws Error after `limitMs` of it */
export async function passUntil(holds: () => boolean, limitMs: number): Promise<void> {
  for (let ms = 0; !holds(); ms += 5) {
    if (ms >= limitMs) throw new Error(describeWait(holds, limitMs));
    await pass(5);
  }
}

/** Waits, while time stands still, for what comes over a socket. @throws Error after 20 s of real time */
export const until = (holds: () => boolean): Promise<unknown> => vi.waitUntil(holds, { interval: 0, timeout: 20_000 });

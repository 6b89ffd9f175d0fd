import { afterEach, beforeEach, vi } from 'vitest';

/** Stops the timers of each test of a file. Promises and sockets continue, and so does the clock. */
export function stopTimers(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}

/** Lets what has begun continue until it waits for time. */
export async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
}

import { vi } from 'vitest';
import { openWorld } from '../harness/open-world.ts';

/**
 * Stops the wall clock of the process while the tests of a file run: updates grow old by `pass` alone, however long
 * a busy machine takes. Timers, leases and sockets run. To be called after a rig's world, which ends beside a running
 * clock: a delivery waits for what is in flight. `vi.waitFor` and `vi.waitUntil` would let time pass; `eventually` does
 * not.
 */
export const stopWallClock = () =>
  openWorld(async (ends) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    ends.defer(() => {
      vi.useRealTimers();
    });
    return {
      pass: (ms: number) => {
        vi.advanceTimersByTime(ms);
      },
    };
  });

import { LRUCache } from 'lru-cache';
import type { Quota } from '../config/limits-schema.ts';

/** What a window says of an amount. */
export type WindowUse = {
  /** Whether more was asked for than was left: then nothing of it is taken. */
  readonly rejected: boolean;
  readonly remaining: number;
  /** Time to the end of the window. */
  readonly msBeforeNext: number;
};

/** Clients counted at once: a few megabytes, however many addresses an attacker has. */
const MAX_CLIENTS = 50_000;

/**
 * Limits an amount in each window of time. A window begins with the first use after the one before.
 *
 * @returns takes all of an amount or nothing of it
 */
export function rateWindow({ requests, windowSecs }: Quota, now: () => number): (amount: number) => WindowUse {
  let remaining = 0;
  let endsAt = Number.NEGATIVE_INFINITY;
  return (amount) => {
    const at = now();
    if (at >= endsAt) {
      remaining = requests;
      endsAt = at + windowSecs * 1_000;
    }
    const rejected = amount > remaining;
    if (!rejected) remaining -= amount;
    return { rejected, remaining, msBeforeNext: endsAt - at };
  };
}

/**
 * Limits the requests of each client, in the memory of this process. Memory is bounded: of too many clients the one
 * that was quiet longest is forgotten, and starts again from zero.
 *
 * @param now milliseconds of a clock that no one sets
 * @returns counts a request of a client
 */
export function clientLimit(
  quota: Quota,
  now: () => number = () => performance.now(),
  maxClients: number = MAX_CLIENTS,
) {
  // With `max` it would allocate room for all at once, in each of a dozen limits.
  const windows = new LRUCache<string, ReturnType<typeof rateWindow>>({
    maxSize: maxClients,
    sizeCalculation: () => 1,
  });
  return (client: string): WindowUse => {
    const window = windows.get(client) ?? rateWindow(quota, now);
    windows.set(client, window);
    return window(1);
  };
}

import { setImmediate } from 'node:timers/promises';

/** What a client's window has after requests of it, these included. */
export type WindowCount = { readonly requests: number; readonly msBeforeNext: number };

/** Adds requests of a client to its count. Resolves to the count after them. */
export type CountRequests = (client: string, requests: number) => Promise<WindowCount>;

type Batch = { requests: number; isOpen: boolean; readonly counted: Promise<WindowCount> };

/**
 * Counts requests by fewer calls, exactly: those of a client that come while a call of it is under way share the next one.
 * Each gets the count as if it had been counted alone, in the order in which they came. A failed call fails those that
 * wait for the next one as well, so that none waits for two.
 */
export function countTogether(count: CountRequests): (client: string) => Promise<WindowCount> {
  const last = new Map<string, Batch>();
  const begin = (client: string, before: Batch | undefined): Batch => {
    const send = async (): Promise<WindowCount> => {
      try {
        await before?.counted;
        // Those that came in this turn of the event loop belong to it, too: of a busy client about half of the requests.
        await setImmediate();
        batch.isOpen = false;
        return await count(client, batch.requests);
      } finally {
        if (last.get(client) === batch) last.delete(client);
      }
    };
    const batch: Batch = { requests: 0, isOpen: true, counted: Promise.resolve().then(send) };
    last.set(client, batch);
    return batch;
  };
  return async (client) => {
    const before = last.get(client);
    const batch = before?.isOpen ? before : begin(client, before);
    const place = ++batch.requests;
    const { requests, msBeforeNext } = await batch.counted;
    return { requests: requests - batch.requests + place, msBeforeNext };
  };
}

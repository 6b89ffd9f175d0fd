import { setTimeout as sleep } from 'node:timers/promises';

/** Waits; an abort ends the wait early. Never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

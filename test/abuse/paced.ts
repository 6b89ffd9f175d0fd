import { setTimeout as sleep } from 'node:timers/promises';

export interface Pace {
  readonly perSecond: number;
  /** Sends no more while so many are waited for. */
  readonly maxOpen: number;
  /** Whether another one is to be sent. */
  readonly goesOn: (sent: number, seconds: number) => boolean;
}

const TICK_MS = 5;

/**
 * Sends at a pace whether answers come or not, then waits for those that are open.
 *
 * @returns how many came in a second
 */
export async function sendPaced(
  { perSecond, maxOpen, goesOn }: Pace,
  send: (number: number) => Promise<void>,
): Promise<number> {
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1_000;
  const open = new Set<Promise<void>>();
  let sent = 0;
  while (goesOn(sent, seconds())) {
    while (sent < seconds() * perSecond && open.size < maxOpen && goesOn(sent, seconds())) {
      const answered = send(sent++).finally(() => open.delete(answered));
      open.add(answered);
    }
    await sleep(TICK_MS);
  }
  const rate = (sent - open.size) / seconds();
  await Promise.all(open);
  return rate;
}

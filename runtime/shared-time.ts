/**
 * What a clock that processes share said, Unix milliseconds,
 * and when it was asked and answered on a clock of this process.
 */
export interface ClockSample {
  readonly sharedAt: number;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/**
 * What to add to the clock of this process for the shared time, once a sample came.
 *
 * 1. At a sample the result is not ahead of the shared clock, and behind it by the time of the sample's answer at most.
 * 2. It moves no farther than a sample proves, so that it stays where it is while samples agree.
 *
 * So who reads a time of one process, and then asks another for at least that long, sees no earlier time there.
 *
 * @param known the result of the samples before; null: there were none
 */
export function nextOffset(known: number | null, { sharedAt, sentAt, receivedAt }: ClockSample): number {
  const [least, most] = [sharedAt - receivedAt, sharedAt - sentAt];
  return known === null ? least : Math.min(most, Math.max(least, known));
}

/** A clock is set back by more than this rather than held. */
const MAX_HELD_MS = 5_000;

/** The time to show: never before the last one that was shown, unless a clock was wrong by more than some seconds. */
export const heldTime = (time: number, last: number): number =>
  time < last && last - time <= MAX_HELD_MS ? last : time;

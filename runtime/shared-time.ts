/**
 * What a clock that processes share said, Unix milliseconds,
 * and when it was asked and answered on a clock of this process.
 */
export interface ClockSample {
  readonly sharedAt: number;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** What to add to the clock of this process for the shared time, at the least and at the most, as known at a time. */
export interface Offsets {
  readonly least: number;
  readonly most: number;
  /** On the clock of this process. */
  readonly at: number;
}

/** A clock runs this much faster or slower than the shared one, at the most: also while NTP sets it right. */
export const MAX_DRIFT = 5e-4;
/** The shared clock says times in whole microseconds. */
const RESOLUTION_MS = 0.001;
/** After this long without a sample nothing more is doubted: times stay near the true ones. */
const MAX_AGE_MS = 10_000;

/** What is known of the offset later, without another sample. */
export function offsetsAt({ least, most, at }: Offsets, now: number): Offsets {
  const drift = MAX_DRIFT * Math.min(now - at, MAX_AGE_MS);
  return { least: least - drift, most: most + drift, at: now };
}

/**
 * What is known of the offset once a sample came: what both it and the samples before allow, or what it says alone
 * where these are old, or contradict it, as after a clock was set.
 *
 * @param known null: there were no samples before
 */
export function nextOffsets(known: Offsets | null, { sharedAt, sentAt, receivedAt }: ClockSample): Offsets {
  const answerMs = (1 + MAX_DRIFT) * (receivedAt - sentAt) + RESOLUTION_MS;
  const sample = { least: sharedAt - receivedAt, most: sharedAt + answerMs - receivedAt, at: receivedAt };
  if (!known || receivedAt - known.at > MAX_AGE_MS) return sample;
  const before = offsetsAt(known, receivedAt);
  const both = {
    least: Math.max(before.least, sample.least),
    most: Math.min(before.most, sample.most),
    at: receivedAt,
  };
  return both.least <= both.most ? both : sample;
}

/** A clock is set back by more than this rather than held. */
const MAX_HELD_MS = 5_000;

/** The time to show: never before the last one that was shown, unless a clock was wrong by more than some seconds. */
export const heldTime = (time: number, last: number): number =>
  time < last && last - time <= MAX_HELD_MS ? last : time;

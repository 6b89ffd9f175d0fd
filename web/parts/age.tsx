import { signal } from '@preact/signals';
import { serverNow } from '../api.ts';
import { age, moment, NOTHING } from '../format.ts';

/** Unix seconds by the service's clock, every second: what shows an age reads it. */
export const now = signal(serverNow());
setInterval(() => {
  now.value = serverNow();
}, 1_000);

/** Seconds from which data look old, and from which they must not be used. */
export type Limits = { readonly amber: number; readonly red: number };
export const PRICE_LIMITS: Limits = { amber: 30, red: 90 };
/** The listing is computed every 2 to 15 seconds. */
export const LISTING_LIMITS: Limits = { amber: 45, red: 180 };

export function freshness(secs: number, { amber, red }: Limits): 'fresh' | 'amber' | 'red' {
  return secs >= red ? 'red' : secs >= amber ? 'amber' : 'fresh';
}

type Props = {
  /** Unix seconds of the data; null: not known. */
  readonly at: number | null;
  readonly limits: Limits;
  /** What is that old. */
  readonly of?: string;
};

/** How old data are, in words and colour. */
export function AgeBadge({ at, limits, of = '' }: Props) {
  if (at === null) return <span class="age mute">{NOTHING}</span>;
  const secs = Math.max(0, now.value - at);
  const state = freshness(secs, limits);
  const note = state === 'fresh' ? '' : state === 'amber' ? ' (late)' : ' (stale)';
  return (
    <span class={`age ${state}`} title={moment(at)}>
      {of && `${of} `}
      {age(secs)}
      {note && <span class="note">{note}</span>}
    </span>
  );
}

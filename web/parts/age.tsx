import { signal } from '@preact/signals';
import { serverNow } from '../api.ts';
import { age, moment, NOTHING } from '../format.ts';

/** Unix seconds by the service's clock, updated every second for all that shows an age. */
export const now = signal(serverNow());
setInterval(() => {
  now.value = serverNow();
}, 1_000);

/** Ages in seconds from which data are shown as old (`amber`), and as not to be used (`red`). */
export type Limits = { readonly amber: number; readonly red: number };
export const PRICE_LIMITS: Limits = { amber: 30, red: 90 };
/** Limits of the listing, which is computed every 2 to 15 seconds. */
export const LISTING_LIMITS: Limits = { amber: 45, red: 180 };

export function freshness(secs: number, { amber, red }: Limits): 'fresh' | 'amber' | 'red' {
  return secs >= red ? 'red' : secs >= amber ? 'amber' : 'fresh';
}

type Props = {
  /** Time of the data, Unix seconds; null when it is not known. */
  readonly at: number | null;
  readonly limits: Limits;
  /** Names the data whose age is shown. */
  readonly of?: string;
};

/** Shows how old data are, in words and colour. */
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

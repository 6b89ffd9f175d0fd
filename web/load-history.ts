import { client } from './api.ts';
import type { History } from './history.ts';

/** Lengths of a bar: seconds, and the length of the depth samples that are shown with it. */
export const INTERVALS = {
  '1m': { secs: 60, samples: '1m' },
  '5m': { secs: 300, samples: '1m' },
  '1h': { secs: 3_600, samples: '1h' },
  '1d': { secs: 86_400, samples: '1h' },
} as const;
export type Interval = keyof typeof INTERVALS;

const SHOWN = 300;
/** Bars of trades that an interval needs to be shown at first. */
const ENOUGH_BARS = 30;

type Place = { readonly chainId: number; readonly poolAddress: string };

/** Gives the longest interval, up to an hour, of which a pool has enough bars; without one, the shortest. */
export async function usualInterval(place: Place, signal: AbortSignal): Promise<Interval> {
  for (const interval of ['1h', '5m'] as const) {
    const { data } = await client.listBars({ ...place, interval, limit: ENOUGH_BARS }, { signal });
    if (data.filter(({ openX64 }) => openX64 !== null).length >= ENOUGH_BARS) return interval;
  }
  return '1m';
}

export async function loadHistory(place: Place, interval: Interval, signal: AbortSignal): Promise<History> {
  const page = { ...place, limit: SHOWN };
  const { secs, samples } = INTERVALS[interval];
  const [trades, bids, asks, depths] = await Promise.all([
    client.listBars({ ...page, interval }, { signal }),
    client.listBars({ ...page, interval, series: 'bid' }, { signal }),
    client.listBars({ ...page, interval, series: 'ask' }, { signal }),
    client.listDepth({ ...page, interval: samples }, { signal }),
  ]);
  return { secs, trades: trades.data, bids: bids.data, asks: asks.data, depths: depths.data };
}

import type { UTCTimestamp } from 'lightweight-charts';
import type { DepthSample, QuoteBar, TradeBar } from './api.ts';
import { priceOfX64, wholeTokens } from './quantities.ts';

/** What a pool traded and quoted; newest first, as the service lists it. */
export type History = {
  readonly secs: number;
  readonly trades: readonly (TradeBar | QuoteBar)[];
  readonly bids: readonly (TradeBar | QuoteBar)[];
  readonly asks: readonly (TradeBar | QuoteBar)[];
  readonly depths: readonly DepthSample[];
};

/** Prices of token1 per whole token0, as numbers for show. */
export type Candle = {
  readonly time: UTCTimestamp;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
};

export type Point = { readonly time: UTCTimestamp; readonly value: number };

/** Distance from mid within which depth is shown, basis points. */
export const SHOWN_BPS = 50;

/** Converts the bars that have a price, oldest first. */
export function candlesOf(bars: History['trades']): Candle[] {
  return bars.toReversed().flatMap(({ startTs, openX64, highX64, lowX64, closeX64 }) => {
    const prices = [openX64, highX64, lowX64, closeX64].map((x64) => x64 && priceOfX64(x64));
    const [open, high, low, close] = prices;
    if (!open || !high || !low || !close) return [];
    return [{ time: startTs as UTCTimestamp, open, high, low, close }];
  });
}

/** Gives the last price of each bar that has one, oldest first. */
export const closesOf = (bars: History['bids']): Point[] =>
  candlesOf(bars).map(({ time, close }) => ({ time, value: close }));

/** Gives what was traded in each bar, in whole token1, oldest first. */
export const volumesOf = (bars: History['trades'], decimals1: number): Point[] =>
  bars.toReversed().flatMap((bar) => {
    if (!('volume1Raw' in bar)) return [];
    return [{ time: bar.startTs as UTCTimestamp, value: Number(wholeTokens(BigInt(bar.volume1Raw), decimals1)) }];
  });

/**
 * Gives what could be sold and bought near the price, in whole token1, oldest first, where depth is known: of the
 * samples of each bar the last.
 */
export function depthsOf(
  { depths: samples, secs }: Pick<History, 'depths' | 'secs'>,
  [decimals0, decimals1]: readonly [number, number],
): { readonly bids: Point[]; readonly asks: Point[] } {
  const points = (amountOf: (sample: DepthSample) => number | null) => {
    const values = samples.toReversed().flatMap((sample) => {
      const value = amountOf(sample);
      return value === null ? [] : [[(sample.ts - (sample.ts % secs)) as UTCTimestamp, value] as const];
    });
    return [...new Map(values)].map(([time, value]) => ({ time, value }));
  };
  const band = ({ depth }: DepthSample) => depth?.find(({ bps }) => bps === SHOWN_BPS);
  const whole = (raw: string, decimals: number) => Number(wholeTokens(BigInt(raw), decimals));
  return {
    bids: points((sample) => {
      const raw = band(sample)?.bidRaw ?? null;
      return raw === null ? null : whole(raw, decimals1);
    }),
    asks: points((sample) => {
      const [raw, price] = [band(sample)?.askRaw ?? null, sample.askX64 && priceOfX64(sample.askX64)];
      return raw === null || !price ? null : whole(raw, decimals0) * price;
    }),
  };
}

import type { UTCTimestamp } from 'lightweight-charts';
import type { TradeBar } from './api.ts';
import { priceOfX64 } from './quantities.ts';

/** Prices of token1 per whole token0, as numbers for show. */
export type Candle = {
  readonly time: UTCTimestamp;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
};

/** Bars with a price, oldest first. */
export function candlesOf(bars: readonly TradeBar[]): Candle[] {
  return bars.toReversed().flatMap(({ startTs, openX64, highX64, lowX64, closeX64 }) => {
    const prices = [openX64, highX64, lowX64, closeX64].map((x64) => x64 && priceOfX64(x64));
    const [open, high, low, close] = prices;
    if (!open || !high || !low || !close) return [];
    return [{ time: startTs as UTCTimestamp, open, high, low, close }];
  });
}

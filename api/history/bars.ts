import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { averagePriceX64Floor, type TradedAmounts } from '../bars/average-price.ts';
import type { FoundBars, Prices } from '../bars/bar-rows.ts';
import type { BarRow } from '../bars/select-bars.ts';
import type { BarsPage, QuoteBar, QuoteBarsPage, TradeBar } from './bars-declaration.ts';
import type { QuoteBarRow } from './select-quote-bars.ts';
import { IN_TOKENS, RATE_BITS, type RateX128 } from './usd-rates.ts';

export type BarsView = {
  readonly secs: number;
  readonly limit: number;
  /** Whether prices are those of token1 in token0. The highest is then the inverse of the lowest. */
  readonly invert: boolean;
  /** Shows empty intervals, too, before this time, Unix seconds. Null: shows none. */
  readonly emptyBeforeTs: number | null;
  /** Value, at the start of a bar, of the token that prices are in. Absent: prices stay in that token. */
  readonly rateAt?: RateX128;
};

/** Makes a page of bars of trades. There is a next page when one bar more was found than the page shows. */
export function barsPage(
  found: FoundBars<BarRow>,
  { immutables }: Pick<ServedPool, 'immutables'>,
  view: BarsView,
): BarsPage {
  const { invert, rateAt = IN_TOKENS } = view;
  const toBar = (row: BarRow): TradeBar => {
    const { startTs, volume0Raw, volume1Raw, volumeUsd, swapCount, isFinal } = row;
    const rate = rateAt(startTs);
    const price = (amounts: TradedAmounts | null) => {
      if (amounts === null || rate === null) return null;
      const valued: TradedAmounts = invert ? [amounts[0] * rate, amounts[1]] : [amounts[0], amounts[1] * rate];
      const x64 = averagePriceX64Floor(valued, immutables.scale, invert);
      return x64 === null ? null : (x64 >> RATE_BITS).toString();
    };
    return { startTs, ...pricesOf(row, invert, price), volume0Raw, volume1Raw, volumeUsd, swapCount, final: isFinal };
  };
  const empty = { ...NO_PRICES, volume0Raw: '0', volume1Raw: '0', volumeUsd: 0, swapCount: 0 };
  return pageOf(found.bars.map(toBar), view, found.finalUntilTs, empty);
}

/**
 * Makes a page of bars of samples. One bar more than it shows, if there is one, means a next page.
 *
 * @param found for inverted prices, bars of the series that {@link INVERSE} names
 */
export function quoteBarsPage(found: FoundBars<QuoteBarRow>, view: BarsView): QuoteBarsPage {
  const { secs, invert, rateAt = IN_TOKENS } = view;
  const toBar = (row: QuoteBarRow): QuoteBar => {
    const { startTs, sampleCount } = row;
    const rate = rateAt(startTs);
    const price = (double: bigint) => {
      // Zero has no inverse.
      if (rate === null || (invert && double === 0n)) return null;
      const valued = invert ? (DOUBLED_ONE * rate) / double : (double * rate) / 2n;
      return (valued >> RATE_BITS).toString();
    };
    const final = startTs + secs <= found.finalUntilTs;
    return { startTs, ...pricesOf(row, invert, price), sampleCount, final };
  };
  return pageOf(found.bars.map(toBar), view, found.finalUntilTs, { ...NO_PRICES, sampleCount: 0 });
}

/** The product of a doubled price and its inverse, both Q64.64. */
const DOUBLED_ONE = 1n << 129n;
/** For each series, the series of which it is the inverse: what buys token0 sells token1. */
export const INVERSE = { bid: 'ask', ask: 'bid', mid: 'mid' } as const;

const NO_PRICES = { openX64: null, highX64: null, lowX64: null, closeX64: null };

/** @param x64 writes a price as it is shown, of token1 in token0 when inverted */
const pricesOf = <Price>(
  { open, high, low, close }: Prices<Price>,
  invert: boolean,
  x64: (price: Price) => string | null,
) => ({
  openX64: x64(open),
  highX64: x64(invert ? low : high),
  lowX64: x64(invert ? high : low),
  closeX64: x64(close),
});

/** The first of the bars that were found, with empty intervals, and where the next page begins. */
function pageOf<Bar extends { readonly startTs: number; readonly final: boolean }>(
  bars: readonly Bar[],
  { secs, limit, emptyBeforeTs }: BarsView,
  finalUntilTs: number,
  empty: Omit<Bar, 'startTs' | 'final'>,
) {
  const emptyAt = (startTs: number) => ({ startTs, ...empty, final: startTs + secs <= finalUntilTs }) as Bar;
  // One row more than is shown decides whether there is a next page.
  const all = emptyBeforeTs === null ? bars : fillGaps(bars, { endTs: emptyBeforeTs, secs, most: limit + 1 }, emptyAt);
  return pageBefore(all, limit, ({ startTs }) => startTs);
}

/** The first `limit` rows, and the time of the last of these if there are more. @param rows newest first */
export function pageBefore<Row>(rows: readonly Row[], limit: number, timeOf: (row: Row) => number) {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, nextBefore: rows.length > limit && last !== undefined ? timeOf(last) : null };
}

/**
 * Adds the intervals between a bar and the one after it, or the end. Ends with the bar that makes `most` rows: bars of
 * a pool that trades seldom would fill a page a thousand times.
 */
export function fillGaps<Bar extends { readonly startTs: number }>(
  bars: readonly Bar[],
  { endTs, secs, most }: { readonly endTs: number; readonly secs: number; readonly most: number },
  empty: (startTs: number) => Bar,
): readonly Bar[] {
  const rows: Bar[] = [];
  let nextTs = endTs;
  for (const bar of bars) {
    if (rows.length >= most) break;
    const gap = Math.min((nextTs - bar.startTs) / secs - 1, most);
    for (let n = 1; n <= gap; n += 1) rows.push(empty(nextTs - n * secs));
    rows.push(bar);
    nextTs = bar.startTs;
  }
  return rows;
}

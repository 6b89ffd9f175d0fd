import type { ServedPool } from '../snapshots/pool-directory.ts';
import { averagePriceX64Floor, type TradedAmounts } from '../trades/average-price.ts';
import { type BarsPage, MAX_BARS, type TradeBar } from './declaration.ts';
import type { BarRow, Bars } from './select-bars.ts';
import { IN_TOKENS, RATE_BITS, type RateX128 } from './usd-rates.ts';

export type BarsView = {
  readonly secs: number;
  readonly limit: number;
  /** Prices of token1 in token0: the highest is then the inverse of the lowest. */
  readonly invert: boolean;
  /** Empty intervals, too: those before this time, Unix seconds. Null: none. */
  readonly emptyBeforeTs: number | null;
  /** What the token that prices are in is worth when a bar begins; absent: prices stay in it. */
  readonly rateAt?: RateX128;
};

/** A page of bars, from one bar more than it shows, if there is one. */
export function barsPage(
  { bars, finalUntilTs }: Bars,
  pool: Pick<ServedPool, 'immutables'>,
  { secs, limit, invert, emptyBeforeTs, rateAt = IN_TOKENS }: BarsView,
): BarsPage {
  const shown = bars.map((row) => toBar(row, pool, invert, rateAt));
  return pageOf(shown, limit, {
    secs,
    beforeTs: emptyBeforeTs,
    empty: (startTs) => emptyBar(startTs, secs, finalUntilTs),
  });
}

/** How intervals without a bar are shown. */
export interface Gaps<Bar> {
  readonly secs: number;
  /** As `emptyBeforeTs` of {@link BarsView}. */
  readonly beforeTs: number | null;
  readonly empty: (startTs: number) => Bar;
}

/** The first bars of those that are found, with empty intervals, and where the next page begins. */
export function pageOf<Bar extends { readonly startTs: number }>(bars: readonly Bar[], limit: number, gaps: Gaps<Bar>) {
  const all = gaps.beforeTs === null ? bars : fillGaps(bars, gaps.beforeTs, gaps);
  return pageBefore(all, limit, ({ startTs }) => startTs);
}

/** The first of some rows, newest first, and the time of the last of them, if there are more. */
export function pageBefore<Row>(rows: readonly Row[], limit: number, timeOf: (row: Row) => number) {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, nextBefore: rows.length > limit && last !== undefined ? timeOf(last) : null };
}

function toBar(row: BarRow, pool: Pick<ServedPool, 'immutables'>, invert: boolean, rateAt: RateX128): TradeBar {
  const { startTs, volume0Raw, volume1Raw, volumeUsd, swapCount, isFinal } = row;
  const rate = rateAt(startTs);
  const price = (amounts: TradedAmounts | null) => {
    if (amounts === null || rate === null) return null;
    const valued: TradedAmounts = invert ? [amounts[0] * rate, amounts[1]] : [amounts[0], amounts[1] * rate];
    const x64 = averagePriceX64Floor(valued, pool.immutables.scale, invert);
    return x64 === null ? null : (x64 >> RATE_BITS).toString();
  };
  return {
    startTs,
    openX64: price(row.open),
    highX64: price(invert ? row.low : row.high),
    lowX64: price(invert ? row.high : row.low),
    closeX64: price(row.close),
    volume0Raw,
    volume1Raw,
    volumeUsd,
    swapCount,
    final: isFinal,
  };
}

/** No page shows more, however long a pool was quiet. */
const MAX_GAP = MAX_BARS + 1;

/** Adds the intervals between a bar and the one after it, or the end. */
function fillGaps<Bar extends { readonly startTs: number }>(
  bars: readonly Bar[],
  endTs: number,
  { secs, empty }: Pick<Gaps<Bar>, 'secs' | 'empty'>,
): readonly Bar[] {
  return bars.flatMap((bar, index) => {
    const nextTs = bars[index - 1]?.startTs ?? endTs;
    const missing = Math.max((nextTs - bar.startTs) / secs - 1, 0);
    const gap = Array.from({ length: Math.min(missing, MAX_GAP) }, (_, n) => empty(nextTs - (n + 1) * secs));
    return [...gap, bar];
  });
}

const emptyBar = (startTs: number, secs: number, finalUntilTs: number): TradeBar => ({
  startTs,
  openX64: null,
  highX64: null,
  lowX64: null,
  closeX64: null,
  volume0Raw: '0',
  volume1Raw: '0',
  volumeUsd: 0,
  swapCount: 0,
  final: startTs + secs <= finalUntilTs,
});

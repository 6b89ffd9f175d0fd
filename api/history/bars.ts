import type { ServedPool } from '../snapshots/pool-directory.ts';
import { averagePriceX64Floor, type TradedAmounts } from '../trades/average-price.ts';
import { type BarsPage, MAX_BARS, type TradeBar } from './declaration.ts';
import type { BarRow, Bars } from './select-bars.ts';

export type BarsView = {
  readonly secs: number;
  readonly limit: number;
  /** Prices of token1 in token0: the highest is then the inverse of the lowest. */
  readonly invert: boolean;
  /** Intervals without a trade, too: those before this time, Unix seconds. Null: none. */
  readonly emptyBeforeTs: number | null;
};

/** A page of bars, from one bar more than it shows, if there is one. */
export function barsPage(
  { bars, finalUntilTs }: Bars,
  pool: Pick<ServedPool, 'immutables'>,
  { secs, limit, invert, emptyBeforeTs }: BarsView,
): BarsPage {
  const shown = bars.map((row) => toBar(row, pool, invert));
  const all = emptyBeforeTs === null ? shown : fillGaps(shown, secs, emptyBeforeTs, finalUntilTs);
  const data = all.slice(0, limit);
  return { data, nextBefore: all.length > limit ? (data.at(-1)?.startTs ?? null) : null };
}

function toBar(row: BarRow, pool: Pick<ServedPool, 'immutables'>, invert: boolean): TradeBar {
  const { startTs, volume0Raw, volume1Raw, volumeUsd, swapCount, isFinal } = row;
  const price = (amounts: TradedAmounts | null) =>
    (amounts && averagePriceX64Floor(amounts, pool.immutables.scale, invert)?.toString()) ?? null;
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
function fillGaps(bars: readonly TradeBar[], secs: number, endTs: number, finalUntilTs: number): readonly TradeBar[] {
  return bars.flatMap((bar, index) => {
    const nextTs = bars[index - 1]?.startTs ?? endTs;
    const missing = Math.max((nextTs - bar.startTs) / secs - 1, 0);
    const gap = Array.from({ length: Math.min(missing, MAX_GAP) }, (_, n) =>
      emptyBar(nextTs - (n + 1) * secs, secs, finalUntilTs),
    );
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

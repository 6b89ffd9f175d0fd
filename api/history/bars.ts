import { mulDivFloor, Q64 } from '../../protocol/fixed-point.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import { type BarsPage, MAX_BARS, type TradeBar } from './declaration.ts';
import type { BarRow, Bars, PricePair } from './select-bars.ts';

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
  const price = (pair: PricePair | null) => pair && priceX64Floor(pair, pool, invert).toString();
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

/** Scaled units of both tokens are of one size: their quotient is the price of a whole token in the other. */
function priceX64Floor(
  [amount0, amount1]: PricePair,
  { immutables: { scale } }: Pick<ServedPool, 'immutables'>,
  invert: boolean,
): bigint {
  const [scaled0, scaled1] = [amount0 * scale.multiplier0, amount1 * scale.multiplier1];
  return invert ? mulDivFloor(scaled0, Q64, scaled1) : mulDivFloor(scaled1, Q64, scaled0);
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

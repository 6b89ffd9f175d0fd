import type { Finding } from '../calibration.ts';
import type { BidAsk } from '../curve.ts';
import { divCeil, Q64 } from '../fixed-point.ts';
import type { BinBalances } from '../stop-loss/rounding.ts';
import {
  type MarkPrices,
  METRIC_SCALES,
  markPrices,
  STOP_LOSS_MARKS,
  type StopLossMark,
} from '../stop-loss/stop-loss.ts';
import { judge } from '../verdict.ts';

/** The name under which the finding is kept. */
export const STOP_LOSS_MARK = 'stopLossMark';

/** A bin whose watermark a swap raised: the stop loss stored the value of a share right after the swap. */
export interface RaisedBin {
  /** Names the bin in the evidence. */
  readonly name: string;
  readonly balances: BinBalances;
  readonly shares: bigint;
  /** What was stored, in metric units; null for a watermark that was not raised. */
  readonly stored0: bigint | null;
  readonly stored1: bigint | null;
  readonly quote: BidAsk;
}

/**
 * Decides for a mark by comparing the watermarks that swaps stored with the values that each mark gives. A bin that no
 * mark explains is left out: there the provider's quote changed later in the block.
 */
export function judgeMarks(bins: readonly RaisedBin[]): Finding {
  const seen = bins.filter((bin) => STOP_LOSS_MARKS.some((mark) => explains(mark, bin)));
  const interpretations = STOP_LOSS_MARKS.map((name) => ({ name, agrees: (bin: RaisedBin) => explains(name, bin) }));
  return judge(STOP_LOSS_MARK, interpretations, seen);
}

function explains(mark: StopLossMark, bin: RaisedBin): boolean {
  const marks = markPrices(mark, bin.quote);
  const isValue = (stored: bigint | null, value: bigint, slack: bigint) =>
    stored === null || (stored <= value + slack && stored + slack >= value);
  return Object.values(METRIC_SCALES).some((scale) => {
    const [value0, value1] = valuesPerShare(bin, marks, scale);
    const rounding = divCeil(scale, bin.shares) + 3n;
    return (
      isValue(bin.stored0, value0, rounding + divCeil(Q64, marks.in0)) &&
      isValue(bin.stored1, value1, rounding + divCeil(marks.in1, Q64))
    );
  });
}

const valuesPerShare = (
  { balances: { token0, token1 }, shares }: RaisedBin,
  { in0, in1 }: MarkPrices,
  scale: bigint,
): readonly [bigint, bigint] => [
  ((token0 + (token1 * Q64) / in0) * scale) / shares,
  ((token1 + (token0 * in1) / Q64) * scale) / shares,
];

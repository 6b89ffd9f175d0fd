import { divCeil, Q64 } from '../fixed-point.ts';
import { type Hypothesis, judge, type Verdict } from '../verdict.ts';
import {
  type BinBalances,
  type MarkPrices,
  METRIC_SCALES,
  markPrices,
  STOP_LOSS_MARKS,
  type StopLossMark,
} from './stop-loss.ts';

/** A bin that a swap raised a watermark of: what the stop loss stored is the value of a share right after the swap. */
export interface RaisedBin {
  /** By which it is found again. */
  readonly name: string;
  readonly balances: BinBalances;
  readonly shares: bigint;
  /** What was stored, in metric units; null for a watermark that was not raised. */
  readonly stored0: bigint | null;
  readonly stored1: bigint | null;
  /** The provider's, Q64.64. */
  readonly quote: { readonly bidX64: bigint; readonly askX64: bigint };
}

/**
 * Compares the watermarks that swaps stored with the values by every mark. A bin that no mark explains says nothing: the
 * provider's quote changed later in the block.
 */
export function judgeMarks(bins: readonly RaisedBin[]): {
  readonly verdict: Verdict<StopLossMark>;
  /** The bins that count. */
  readonly seen: readonly RaisedBin[];
} {
  const seen = bins.filter((bin) => STOP_LOSS_MARKS.some((mark) => contradiction(mark, bin) === null));
  const hypotheses = STOP_LOSS_MARKS.map(
    (name): Hypothesis<StopLossMark, RaisedBin> => ({ name, contradiction: (bin) => contradiction(name, bin) }),
  );
  return { verdict: judge(hypotheses, seen), seen };
}

function contradiction(mark: StopLossMark, bin: RaisedBin): string | null {
  const marks = markPrices(mark, bin.quote);
  const isValue = (stored: bigint | null, value: bigint, slack: bigint) =>
    stored === null || (stored <= value + slack && stored + slack >= value);
  const fits = Object.values(METRIC_SCALES).some((scale) => {
    const [value0, value1] = valuesPerShare(bin, marks, scale);
    const rounding = divCeil(scale, bin.shares) + 3n;
    return (
      isValue(bin.stored0, value0, rounding + divCeil(Q64, marks.in0)) &&
      isValue(bin.stored1, value1, rounding + divCeil(marks.in1, Q64))
    );
  });
  if (fits) return null;
  const [value0, value1] = valuesPerShare(bin, marks, METRIC_SCALES.current);
  return `stored ${bin.stored0} and ${bin.stored1}, by this mark ${value0} and ${value1}`;
}

const valuesPerShare = (
  { balances: { token0, token1 }, shares }: RaisedBin,
  { in0, in1 }: MarkPrices,
  scale: bigint,
): readonly [bigint, bigint] => [
  ((token0 + (token1 * Q64) / in0) * scale) / shares,
  ((token1 + (token0 * in1) / Q64) * scale) / shares,
];

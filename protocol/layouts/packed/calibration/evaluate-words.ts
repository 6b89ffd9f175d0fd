import { type Hypothesis, judge, type Verdict } from '../../../verdict.ts';
import { readDetails } from '../events.ts';
import {
  DETAILS,
  type DeltaScale,
  type Details,
  type Fees,
  type Notional,
  type PlatformFees,
} from '../interpretations.ts';
import { deltaScaleHypotheses } from './delta-scale.ts';
import { feesHypotheses, notionalHypotheses, platformFeesHypotheses } from './fees.ts';
import { type ObservedSwap, swapFlow } from './observed-swap.ts';

/** What the words of a factory's swaps mean, each decided or not. */
export interface WordVerdicts {
  readonly details: Verdict<Details>;
  readonly deltaScale: Verdict<DeltaScale>;
  readonly fees: Verdict<Fees>;
  readonly platformFees: Verdict<PlatformFees>;
  /** Without observations as long as `details` is not decided. */
  readonly notional: Verdict<Notional>;
}

/** Compares every interpretation of the words of swaps with what their pools stored. */
export function evaluateWords(swaps: readonly ObservedSwap[]): WordVerdicts {
  const details = judge(detailsHypotheses, swaps);
  return {
    details,
    deltaScale: judge(deltaScaleHypotheses, swaps),
    fees: judge(feesHypotheses, swaps),
    platformFees: judge(platformFeesHypotheses, swaps),
    notional: judge(notionalHypotheses(DETAILS[details.decided ?? 'flagsFirst']), details.decided ? swaps : []),
  };
}

/**
 * A swap's `details` tell the cursor that is in storage after it, and its direction as the amounts do. Whether a swap was of
 * an exact input leaves no trace in storage: that flag stands or falls with the others.
 */
const detailsHypotheses = (Object.keys(DETAILS) as Details[]).map(
  (name): Hypothesis<Details, ObservedSwap> => ({
    name,
    contradiction(observed) {
      const { bin, position, zeroForOne } = readDetails(DETAILS[name], observed.swap.details);
      const { cursor } = observed.after.head;
      if (bin !== cursor.bin) return `bin ${bin}, in storage ${cursor.bin}`;
      if (position !== cursor.position) return `position ${position}, in storage ${cursor.position}`;
      const flow = swapFlow(observed);
      const isOther = flow && flow.zeroForOne !== zeroForOne;
      return isOther ? `token${zeroForOne ? 0 : 1} in, by the amounts the other` : null;
    },
  }),
);

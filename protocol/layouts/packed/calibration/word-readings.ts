import { type DeltaScale, deltaScaleHypotheses } from './delta-scale.ts';
import { type DetailsReading, detailsHypotheses } from './details.ts';
import { type FeesReading, feesHypotheses, type PlatformFeesReading, platformFeesHypotheses } from './fees.ts';
import type { ObservedSwap } from './observed-swap.ts';
import { judge, type Verdict } from './verdict.ts';

/** What the words of a factory's swaps mean, each decided or not. */
export interface WordReadings {
  readonly details: Verdict<DetailsReading>;
  readonly deltaScale: Verdict<DeltaScale>;
  readonly fees: Verdict<FeesReading>;
  readonly platformFees: Verdict<PlatformFeesReading>;
}

/** Holds every reading of the words of swaps against what their pools stored. */
export function judgeWords(swaps: readonly ObservedSwap[]): WordReadings {
  return {
    details: judge(detailsHypotheses, swaps),
    deltaScale: judge(deltaScaleHypotheses, swaps),
    fees: judge(feesHypotheses, swaps),
    platformFees: judge(platformFeesHypotheses, swaps),
  };
}

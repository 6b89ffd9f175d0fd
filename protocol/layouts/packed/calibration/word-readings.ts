import { judge, type Verdict } from '../../../verdict.ts';
import { DETAILS_READINGS } from '../candidates.ts';
import { type DeltaScale, deltaScaleHypotheses } from './delta-scale.ts';
import { type DetailsReading, detailsHypotheses } from './details.ts';
import {
  type FeesReading,
  feesHypotheses,
  type NotionalReading,
  notionalHypotheses,
  type PlatformFeesReading,
  platformFeesHypotheses,
} from './fees.ts';
import type { ObservedSwap } from './observed-swap.ts';

/** What the words of a factory's swaps mean, each decided or not. */
export interface WordReadings {
  readonly details: Verdict<DetailsReading>;
  readonly deltaScale: Verdict<DeltaScale>;
  readonly fees: Verdict<FeesReading>;
  readonly platformFees: Verdict<PlatformFeesReading>;
  /** Without observations as long as `details` is not decided. */
  readonly notional: Verdict<NotionalReading>;
}

/** Holds every reading of the words of swaps against what their pools stored. */
export function judgeWords(swaps: readonly ObservedSwap[]): WordReadings {
  const details = judge(detailsHypotheses, swaps);
  const reading = DETAILS_READINGS.find(({ name }) => name === details.decided);
  return {
    details,
    deltaScale: judge(deltaScaleHypotheses, swaps),
    fees: judge(feesHypotheses, swaps),
    platformFees: judge(platformFeesHypotheses, swaps),
    notional: judge(notionalHypotheses((reading ?? DETAILS_READINGS[0]).shape), reading ? swaps : []),
  };
}

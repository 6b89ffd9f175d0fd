import { E6, mulDivFloor } from '../../../fixed-point.ts';
import type { PackedBinSwapped } from '../../../pool-events.ts';
import type { Hypothesis } from '../../../verdict.ts';
import { readDetails } from '../events.ts';
import type { DetailsShape, Fees, Notional, PlatformFees } from '../interpretations.ts';
import { type ObservedSwap, type SwapFlow, swapFlow } from './observed-swap.ts';

/** Part of the spread of one bin that left to the platform, and by how much rounding may have changed it. */
interface LeftPart {
  readonly left: bigint;
  readonly slack: bigint;
}

/**
 * Halves of `BinSwapped.fees`. Whatever they are, they tell how a bin's spread was shared: by the pool's own share, and
 * such that what left is what storage says that the platform took of the input besides notional fees.
 */
export const feesHypotheses: readonly Hypothesis<Fees, ObservedSwap>[] = [
  {
    name: 'token',
    contradiction: (observed) =>
      spreadContradiction(observed, ({ fees }, { zeroForOne }, shareE6) => {
        const [kept, foreign] = zeroForOne ? [fees.high, fees.low] : [fees.low, fees.high];
        if (foreign !== 0n) return `${foreign} in the half of the token that left`;
        // Of a spread of which the share s left, 1 - s was kept; of a spread that left whole, nothing tells.
        const rest = E6 - shareE6;
        return rest > 0n ? { left: mulDivFloor(kept, shareE6, rest), slack: 1n + shareE6 / rest } : null;
      }),
  },
  {
    name: 'kind',
    contradiction: (observed) =>
      spreadContradiction(observed, ({ fees: { high, low } }, _, shareE6) => {
        const expected = mulDivFloor(high + low, shareE6, E6);
        if (within(low - expected, -1n, 1n)) return { left: low, slack: 0n };
        return `${low} of ${high + low} left, by the pool's share ${expected}`;
      }),
  },
];

/** Halves of `Swap.platformFees`, held against the notional fees that accrued and what came in but was not kept by bins. */
export const platformFeesHypotheses: readonly Hypothesis<PlatformFees, ObservedSwap>[] = [
  {
    name: 'token',
    contradiction: (observed) =>
      ofFlow(observed, ({ zeroForOne, platformInput, notionalOut, unitIn }) => {
        const { high, low } = observed.swap.platformFees;
        const [input, output] = zeroForOne ? [high, low] : [low, high];
        if (output !== notionalOut) return `${output} of the token that left, accrued ${notionalOut}`;
        return within(platformInput - input, 0n, unitIn - 1n) ? null : `${input} of ${platformInput} that came in`;
      }),
  },
  {
    name: 'kind',
    contradiction: (observed) =>
      ofFlow(observed, ({ platformInput, notionalIn, notionalOut, unitIn }) => {
        const { high, low } = observed.swap.platformFees;
        if (low !== notionalIn + notionalOut) return `notional fee ${low}, accrued ${notionalIn + notionalOut}`;
        const spread = platformInput - notionalIn;
        return within(spread - high, 0n, unitIn - 1n) ? null : `part of the spread ${high} of ${spread} that came in`;
      }),
  },
];

/**
 * Token of the notional fee, by what accrued of it.
 *
 * @param details the shape of `details`, decided: it tells exact inputs
 */
export function notionalHypotheses(details: DetailsShape): readonly Hypothesis<Notional, ObservedSwap>[] {
  return [
    {
      name: 'input',
      contradiction: (observed) =>
        ofFlow(observed, ({ notionalOut }) => (notionalOut === 0n ? null : `${notionalOut} of the token that left`)),
    },
    {
      name: 'unspecified',
      contradiction: (observed) =>
        ofFlow(observed, ({ notionalIn, notionalOut }) => {
          const { exactInput } = readDetails(details, observed.swap.details);
          const specified = exactInput ? notionalIn : notionalOut;
          return specified === 0n ? null : `${specified} of the token whose amount was asked for`;
        }),
    },
  ];
}

/** @param leftOf what left of a bin's spread by its event; why the event cannot mean that; null when it does not tell */
function spreadContradiction(
  observed: ObservedSwap,
  leftOf: (bin: PackedBinSwapped, flow: SwapFlow, shareE6: bigint) => LeftPart | string | null,
): string | null {
  return ofFlow(observed, (flow) => {
    let left = 0n;
    let slack = 0n;
    for (const bin of observed.bins) {
      const part = leftOf(bin, flow, BigInt(observed.before.head.spreadFeeE6));
      if (part === null) return null;
      if (typeof part === 'string') return `bin ${bin.bin}: ${part}`;
      left += part.left;
      slack += part.slack;
    }
    const taken = flow.platformInput - flow.notionalIn;
    return within(taken - left, -slack, flow.unitIn + slack) ? null : `${left} left by the bins, ${taken} by storage`;
  });
}

function ofFlow(observed: ObservedSwap, contradiction: (flow: SwapFlow) => string | null): string | null {
  const flow = swapFlow(observed);
  return flow && contradiction(flow);
}

const within = (value: bigint, least: bigint, most: bigint) => value >= least && value <= most;

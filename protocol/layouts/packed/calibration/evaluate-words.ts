import type { Finding } from '../../../calibration.ts';
import { E6, mulDivFloor } from '../../../fixed-point.ts';
import { type Interpretation, judge } from '../../../verdict.ts';
import { DETAILS, type Details, readDetails } from '../interpretations.ts';
import { type ObservedSwap, type SwapFlow, swapFlow } from './observe-swaps.ts';

/** Names of the findings about words, in the order in which they are shown. */
export const WORDS = ['details', 'fees', 'platformFees', 'notional'] as const;

/**
 * Decides what the words of a factory's swaps mean, which is not public: compares every interpretation with what pools
 * stored. `notional` stays undecided without `details`, which say whether an input was exact.
 */
export function evaluateWords(observed: readonly ObservedSwap[]): readonly Finding[] {
  // A swap that moved nothing has no direction.
  const swaps = observed.filter(({ swap }) => swap.amount0Delta > 0n || swap.amount1Delta > 0n);
  const details = judge('details', DETAILS_INTERPRETATIONS, swaps);
  const decided = details.decided as Details | null;
  const [fees, platformFees, notional] = [FEES, PLATFORM_FEES, notionalInterpretations(decided ?? 'flagsFirst')];
  return [
    details,
    judge('fees', fees, swaps),
    judge('platformFees', platformFees, swaps),
    judge('notional', notional, decided ? swaps : []),
  ];
}

type SwapInterpretation = Interpretation<ObservedSwap>;

/**
 * Interpretations of `details`: one agrees if it gives the cursor that storage holds after the swap, and the direction
 * that the amounts show. Storage does not show whether the input was exact: that flag is accepted with the others.
 */
const DETAILS_INTERPRETATIONS = (Object.keys(DETAILS) as Details[]).map(
  (name): SwapInterpretation => ({
    name,
    agrees(observed) {
      const { bin, position, zeroForOne } = readDetails(name, observed.swap.details);
      const { cursor } = observed.after;
      return bin === cursor.bin && position === cursor.position && zeroForOne === swapFlow(observed).zeroForOne;
    },
  }),
);

/**
 * Interpretations of the halves of `BinSwapped.fees`. `token`: fees in token0 and token1, as in `binDeltas`. `kind`:
 * the fee of liquidity providers, then that of the platform. Either has to split each bin's spread by the pool's own
 * share, and what leaves the bins has to be what the platform took of the input by storage, less notional fees.
 */
const FEES: readonly SwapInterpretation[] = [
  {
    name: 'token',
    agrees(observed) {
      const flow = swapFlow(observed);
      const halves = observed.bins.map(({ fees: { high, low } }) => (flow.zeroForOne ? [high, low] : [low, high]));
      if (halves.some(([, foreign]) => foreign !== 0n)) return false;
      const shareE6 = BigInt(observed.before.spreadFeeE6);
      const rest = E6 - shareE6;
      // Of a spread, the share s left and 1 - s was kept. Where the whole spread left, nothing was kept that shows it.
      if (rest <= 0n) return true;
      const left = halves.map(([kept = 0n]) => mulDivFloor(kept, shareE6, rest));
      return isTaken(flow, left, 1n + shareE6 / rest);
    },
  },
  {
    name: 'kind',
    agrees(observed) {
      const shareE6 = BigInt(observed.before.spreadFeeE6);
      const isShared = observed.bins.every(({ fees: { high, low } }) =>
        within(low - mulDivFloor(high + low, shareE6, E6), -1n, 1n),
      );
      const left = observed.bins.map(({ fees }) => fees.low);
      return isShared && isTaken(swapFlow(observed), left, 0n);
    },
  },
];

/** Whether the parts that left bins, each within `slack`, sum up to what the platform took besides notional fees. */
function isTaken({ platformInput, notionalIn, unitIn }: SwapFlow, left: readonly bigint[], slack: bigint): boolean {
  const off = platformInput - notionalIn - left.reduce((sum, part) => sum + part, 0n);
  const slackOfAll = slack * BigInt(left.length);
  return within(off, -slackOfAll, unitIn + slackOfAll);
}

/**
 * Interpretations of the halves of `Swap.platformFees`. `token`: fees in token0 and token1. `kind`: the platform's part
 * of the spread, then the notional fee. They are compared with accrued notional fees, and with the input that bins did
 * not keep.
 */
const PLATFORM_FEES: readonly SwapInterpretation[] = [
  {
    name: 'token',
    agrees(observed) {
      const { zeroForOne, platformInput, notionalOut, unitIn } = swapFlow(observed);
      const { high, low } = observed.swap.platformFees;
      const [input, output] = zeroForOne ? [high, low] : [low, high];
      return output === notionalOut && within(platformInput - input, 0n, unitIn - 1n);
    },
  },
  {
    name: 'kind',
    agrees(observed) {
      const { platformInput, notionalIn, notionalOut, unitIn } = swapFlow(observed);
      const { high, low } = observed.swap.platformFees;
      return low === notionalIn + notionalOut && within(platformInput - notionalIn - high, 0n, unitIn - 1n);
    },
  },
];

/**
 * Interpretations of the token in which a swap pays the notional fee, by what accrued. `input`: the token that comes
 * in, where bins charge it with their own fees. `unspecified`: the one whose amount the trader does not name, as in the
 * flat layout.
 */
const notionalInterpretations = (details: Details): readonly SwapInterpretation[] => [
  { name: 'input', agrees: (observed) => swapFlow(observed).notionalOut === 0n },
  {
    name: 'unspecified',
    agrees(observed) {
      const { notionalIn, notionalOut } = swapFlow(observed);
      return (readDetails(details, observed.swap.details).exactInput ? notionalIn : notionalOut) === 0n;
    },
  },
];

const within = (value: bigint, least: bigint, most: bigint) => value >= least && value <= most;

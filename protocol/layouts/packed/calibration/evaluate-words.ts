import type { Finding } from '../../../calibration.ts';
import { E6, mulDivFloor } from '../../../fixed-point.ts';
import { type Interpretation, judge } from '../../../verdict.ts';
import { DETAILS, type Details, readDetails } from '../interpretations.ts';
import { type ObservedSwap, type SwapFlow, swapFlow } from './observe-swaps.ts';

/** Names of the findings about words, in the order in which they are shown. */
export const WORDS = ['details', 'fees', 'platformFees', 'notional'] as const;

/**
 * Compares every interpretation of the words of swaps with what their pools stored: what is not publicly known of a
 * factory's swaps. Without `details`, which report exact inputs, nothing is known of `notional`.
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
 * A swap's `details` report the cursor that is in storage after it, and its direction as the amounts do. Whether a swap was of
 * an exact input leaves no trace in storage: that flag stands or falls with the others.
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
 * Halves of `BinSwapped.fees`: of token0 and token1, as those of `binDeltas`; or the fee of the liquidity providers, and
 * beside it the platform's. Whatever they are, they show how a bin's spread was shared: by the pool's own share, and such that
 * what left is what storage says that the platform took of the input besides notional fees.
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
      // Of a spread of which the share s left, 1 - s was kept; of a spread that left whole, nothing shows it.
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

/** Whether what left of bins' spreads, each by `slack` at most more or less, is what the platform took but notional fees. */
function isTaken({ platformInput, notionalIn, unitIn }: SwapFlow, left: readonly bigint[], slack: bigint): boolean {
  const off = platformInput - notionalIn - left.reduce((sum, part) => sum + part, 0n);
  const slackOfAll = slack * BigInt(left.length);
  return within(off, -slackOfAll, unitIn + slackOfAll);
}

/**
 * Halves of `Swap.platformFees`: in token0 and token1; or the platform's part of the spread, and notional fee. Compared with
 * the notional fees that accrued and what came in but was not kept by bins.
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
 * Token in which a swap pays the notional fee, by what accrued of it: the one that comes in, where bins charge it with their
 * own fees; or, as in the flat layout, the one whose amount the trader does not name.
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

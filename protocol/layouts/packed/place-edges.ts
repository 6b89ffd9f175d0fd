import type { SwapAmounts } from '../../curve.ts';
import { E6, maxBigint, minBigint } from '../../fixed-point.ts';
import { swapAmounts } from '../../pool-errors.ts';
import type { WalkRecord } from '../../simulated-walk/simulated-walk.ts';
import { multipliers } from '../side-curve.ts';
import { type Pairs, type WalkedSide, wholeOutput } from './walk-plan.ts';
import { netOfOutput } from './walk-prices.ts';

/**
 * Simulates ever larger swaps of a side, raw units, up to the first that is rejected.
 *
 * @param least so many are worth another call; by default all
 */
export type SimulateAll = (amounts: readonly bigint[], least?: number) => Promise<readonly WalkRecord[]>;

/** The edge of a bin. */
interface Mark {
  /** What the bins give up to there, raw units. */
  readonly edge: bigint;
  /** What a trader gets of it, raw units. */
  readonly output: bigint;
}

/** What simulated swaps of a side show. */
interface Known {
  readonly side: WalkedSide;
  /** Of exact inputs, ascending. */
  readonly points: SwapAmounts[];
  /** What exact outputs cost that the pool gives in full, by output. */
  readonly costs: Map<bigint, bigint>;
}

/** An edge is found by an input that ends at most this part of the output behind it, in millionths. */
const NEAR_E6 = 5n;
/** Or by one that ends behind it, if another, at most this many raw units less, ends before it. */
const CLOSE = 2n;
/** Guesses are raised by a raw unit and this part, in millionths, so that they end behind the edge. */
const RAISED_E6 = 1n;
/** Calls for edges that the first guesses miss. */
const MAX_ROUNDS = 5;
/** A guess between two points ends behind the edge where prices change less than twice this part there. */
const BEHIND = 16n;
/** Last outputs to try: a pool that gives an output for an input may not give it when it is specified itself. */
const SHORT_BY = [2n, 1n, 0n];
const NOTHING: SwapAmounts = { amountIn: 0n, amountOut: 0n };

/**
 * Finds pairs that a side surely takes and gives, where exact outputs do not show them: for a pool that keeps a part of
 * the output, an exact output to the edge of a bin ends behind it. Between two pairs the trader is promised what lies
 * on the line. If the price gets better behind an edge, this line lies above the curve unless a pair is at the edge. So
 * inputs are searched that end at the edge or barely behind it. They count with the output at the edge, less a unit,
 * and with what that output costs, if that is more.
 *
 * The part that the pool keeps is taken to be the same along the side, as the emptied side shows it.
 *
 * @param outputs pairs of exact outputs to edges
 * @param emptied what an input took and gave that emptied the side
 * @returns by edge, and the inputs that were found at edges;
 * pairs only up to the first whose output the pool does not give when it is specified
 */
export async function placeEdges(
  simulate: SimulateAll,
  side: WalkedSide,
  outputs: Pairs,
  emptied: SwapAmounts,
): Promise<{ readonly pairs: Pairs; readonly measured: Pairs }> {
  const whole = wholeOutput(side);
  const marks = [...new Set(side.edges)]
    .filter((edge) => edge > 0n && edge < whole)
    .map((edge): Mark => ({ edge, output: (edge * emptied.amountOut) / whole }));
  const ends = SHORT_BY.map((units) => emptied.amountOut - units).filter((output) => output > 0n);
  const known: Known = { side, points: [emptied], costs: new Map() };
  const inputs = marks.map((mark) => raised(likelyInput(side, mark, outputs, emptied)));
  const before = [...new Set(marks.map(({ output }) => -output))].filter((amount) => amount < 0n);
  learn(known, await simulate([...before, ...ascending(inputs), ...ends.map((output) => -output)]));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const open = marks.filter((mark) => !isFound(known, mark));
    if (open.length === 0) break;
    const costs = round === 0 ? open.flatMap((mark) => costsOf(known, mark, outputs)) : [];
    const guesses = ascending([...costs, ...open.map((mark) => between(known, mark))]);
    learn(known, await simulate(guesses.filter((input) => known.points.every(({ amountIn }) => amountIn !== input))));
  }
  const measured = marks.map(({ edge, output }) => [edge, around(known, output)[1]] as const);
  return { pairs: surePairs(known, marks, ends, emptied), measured: new Map([...measured, [whole, emptied]]) };
}

function surePairs(known: Known, marks: readonly Mark[], ends: readonly bigint[], emptied: SwapAmounts): Pairs {
  const pairs = new Map<bigint, SwapAmounts>();
  let [input, reached] = [0n, 0n];
  for (const { edge, output } of marks) {
    if (output > 1n) {
      const cost = known.costs.get(output);
      if (cost === undefined) return pairs;
      input = maxBigint(input, maxBigint(around(known, output)[1].amountIn, cost));
      reached = output - 1n;
    }
    pairs.set(edge, { amountIn: input, amountOut: reached });
  }
  const end = ends.findLast((output) => known.costs.has(output));
  const cost = known.costs.get(end ?? 0n);
  if (end !== undefined && cost !== undefined)
    pairs.set(wholeOutput(known.side), { amountIn: maxBigint(emptied.amountIn, cost), amountOut: end });
  return pairs;
}

/** The input to an edge if the pool charges for exact outputs what it keeps of them, as a fee on inputs before fees. */
function likelyInput(side: WalkedSide, { edge }: Mark, outputs: Pairs, emptied: SwapAmounts): bigint {
  const whole = wholeOutput(side);
  const net = netOfOutput(side.bare, edge);
  const taken = outputs.get(edge)?.amountIn;
  if (taken === undefined) return (emptied.amountIn * net) / maxBigint(netOfOutput(side.bare, whole), 1n);
  const [multiplierIn] = multipliers(side.bare);
  return maxBigint(taken - ((net / multiplierIn) * (whole - emptied.amountOut)) / whole, 0n);
}

/** What outputs of a mark cost: the one that a trader gets, and the one that the bins give. */
const costsOf = ({ costs }: Known, { edge, output }: Mark, outputs: Pairs): bigint[] =>
  [costs.get(output), outputs.get(edge)?.amountIn].flatMap((cost) => (cost === undefined ? [] : [raised(cost)]));

/** An input between the points around a mark, likely behind it. */
function between(known: Known, { output }: Mark): bigint {
  const [before, after] = around(known, output);
  const width = after.amountIn - before.amountIn;
  const on = (width * (output - before.amountOut)) / maxBigint(after.amountOut - before.amountOut, 1n);
  return minBigint(before.amountIn + on + width / BEHIND, after.amountIn - 1n);
}

/** Whether an input is known that ends barely behind a mark, or at most two units behind one that ends before it. */
function isFound(known: Known, { output }: Mark): boolean {
  const [before, after] = around(known, output);
  const isNear = (after.amountOut - output - 1n) * E6 <= output * NEAR_E6;
  return isNear || after.amountIn - before.amountIn <= CLOSE;
}

/** The last point before an output, and the first that gives it; the emptied side gives every one. */
function around({ points }: Known, output: bigint): readonly [SwapAmounts, SwapAmounts] {
  const after = points.findIndex(({ amountOut }) => amountOut >= output);
  return [points[after - 1] ?? NOTHING, points.at(after) ?? NOTHING];
}

function learn({ side, points, costs }: Known, records: readonly WalkRecord[]): void {
  for (const { amount, fill } of records) {
    const pair = fill && swapAmounts(side.bare.zeroForOne, fill);
    if (!pair) continue;
    if (amount > 0n) points.push(pair);
    else if (pair.amountOut === -amount) costs.set(pair.amountOut, pair.amountIn);
  }
  points.sort((a, b) => (a.amountIn < b.amountIn ? -1 : 1));
}

const raised = (input: bigint): bigint => input + 1n + (input * RAISED_E6) / E6;

const ascending = (amounts: readonly bigint[]): bigint[] => [...new Set(amounts)].sort((a, b) => (a < b ? -1 : 1));

import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { SellAndBuyPrices } from '../../curve.ts';
import type { DepthLevel } from '../../depth.ts';
import type { PricedPool } from '../ladder.ts';
import { levelAtInput, multipliers, type SideCurve, type SwapAmounts, swapExactOutput } from '../side-curve.ts';
import { curvePrices, FEE_FORMULAS, formulaCurve, type Sides } from './formulas.ts';
import { filledSwap, type Probe } from './searched-swaps.ts';

/** What a pool took and gave for a probe. */
interface AnsweredProbe extends Probe {
  readonly fill: SwapAmounts;
}

/** Swaps that a pool must have answered before a formula may stand in for it. */
const MIN_PROBES = 8;
/** Edges of a side that are tried beside its end, from the cursor on. */
const NEAR_EDGES = 3;

/**
 * Swaps that show whether a formula may stand in for a pool: exact outputs to the end of each side, which all bins have a
 * part in, and to the first edges, which cost little gas; and exact inputs into the middle of those bins, as many as there
 * are to be at all.
 *
 * @returns nothing when the pool has too few bins to tell
 */
export function trialProbes(priced: PricedPool): readonly Probe[] {
  const { bids, asks } = formulaCurve(priced, FEE_FORMULAS[0]);
  const [ofBids, ofAsks] = [probesOf(bids), probesOf(asks)];
  const probes = [...ofBids.edges, ...ofAsks.edges];
  const most = Math.max(ofBids.middles.length, ofAsks.middles.length);
  for (let index = 0; index < most && (index === 0 || probes.length < MIN_PROBES); index++) {
    probes.push(...ofBids.middles.slice(index, index + 1), ...ofAsks.middles.slice(index, index + 1));
  }
  return probes.length < MIN_PROBES ? [] : probes;
}

/** Null when too many swaps were refused to tell; else the formulas that agree exactly with all others and the prices. */
export function triedFormulas(
  priced: PricedPool,
  prices: SellAndBuyPrices,
  probes: readonly Probe[],
  results: readonly CallResult[],
): readonly string[] | null {
  const answers = probes.flatMap((probe, index) => {
    const fill = filledSwap(probe, results[index]);
    return fill ? [{ ...probe, fill }] : [];
  });
  return answers.length < MIN_PROBES ? null : agreeingFormulas(priced, prices, answers);
}

/**
 * Formulas that agree exactly with a pool's prices and its answers at one block and quote; none when there are too few
 * answers. Several agree where they do not differ by a unit, as where no fee but one is charged: each is as good then.
 */
export function agreeingFormulas(
  priced: PricedPool,
  prices: SellAndBuyPrices,
  answers: readonly AnsweredProbe[],
): readonly string[] {
  if (answers.length < MIN_PROBES) return [];
  return FEE_FORMULAS.filter((formula) => {
    const sides = formulaCurve(priced, formula);
    return isSamePrices(curvePrices(sides), prices) && answers.every((answer) => explains(sides, answer));
  }).map(({ name }) => name);
}

/** The formulas among these that give the pool's prices; and their sides, null unless they agree in every level. */
export function matchFormulas(
  priced: PricedPool,
  prices: SellAndBuyPrices,
  names: readonly string[],
): { readonly names: readonly string[]; readonly sides: Sides | null } {
  const holding = FEE_FORMULAS.filter(({ name }) => names.includes(name))
    .map((formula) => ({ name: formula.name, sides: formulaCurve(priced, formula) }))
    .filter(({ sides }) => isSamePrices(curvePrices(sides), prices));
  const [first, ...others] = holding.map(({ sides }) => sides);
  const agree = others.every((other) => first && isSameSides(first, other));
  return { names: holding.map(({ name }) => name), sides: first && agree ? first : null };
}

function probesOf(side: SideCurve): { readonly edges: readonly Probe[]; readonly middles: readonly Probe[] } {
  const { zeroForOne } = side;
  const [, multiplierOut] = multipliers(side);
  const filled = side.steps.filter(({ slice }) => slice.available >= multiplierOut);
  const chosen = filled.filter((_, index) => index < NEAR_EDGES || index === filled.length - 1);
  const ends = chosen.map(({ outputBefore, slice }) => ({
    edge: (outputBefore + slice.available) / multiplierOut,
    half: slice.available / multiplierOut / 2n,
  }));
  const middles = ends.flatMap(({ edge, half }) => {
    const { amountIn } = swapExactOutput(side, edge - half);
    return amountIn > 0n ? [{ zeroForOne, amountSpecified: amountIn }] : [];
  });
  return { edges: ends.map(({ edge }) => ({ zeroForOne, amountSpecified: -edge })), middles };
}

function explains({ bids, asks }: Sides, { zeroForOne, amountSpecified, fill }: AnsweredProbe): boolean {
  const side = zeroForOne ? bids : asks;
  const { amountIn, amountOut } =
    amountSpecified < 0n ? swapExactOutput(side, -amountSpecified) : amountsAtInput(side, amountSpecified);
  return fill.amountIn === amountIn && fill.amountOut === amountOut;
}

function amountsAtInput(side: SideCurve, amount: bigint): SwapAmounts {
  const level = levelAtInput(side, amount);
  return { amountIn: level?.cumulativeInput ?? 0n, amountOut: level?.cumulativeOutput ?? 0n };
}

const isSamePrices = (a: SellAndBuyPrices, b: SellAndBuyPrices): boolean =>
  a.sellX64 === b.sellX64 && a.buyX64 === b.buyX64;

const isSameSides = (a: Sides, b: Sides): boolean =>
  isSameLevels(a.bids.levels, b.bids.levels) && isSameLevels(a.asks.levels, b.asks.levels);

function isSameLevels(a: readonly DepthLevel[], b: readonly DepthLevel[]): boolean {
  const isSame = (level: DepthLevel, other: DepthLevel | undefined) =>
    level.cumulativeInput === other?.cumulativeInput &&
    level.cumulativeOutput === other.cumulativeOutput &&
    level.priceX64 === other.priceX64;
  return a.length === b.length && a.every((level, index) => isSame(level, b[index]));
}

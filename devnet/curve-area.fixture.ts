import { E6, Q64 } from '../protocol/fixed-point.ts';
import { MAX_POSITION } from '../protocol/pool-state.ts';
import type { PoolWords } from './contracts.fixture.ts';
import type { PoolRecipe } from './random-pool.ts';

function sqrt(value: bigint): bigint {
  let root = BigInt(Math.floor(Math.sqrt(Number(value))));
  while (root * root > value) root = (root + value / root) / 2n;
  while ((root + 1n) * (root + 1n) <= value) root = (root + 1n + value / (root + 1n)) / 2n;
  return root;
}

/** Prices at the edges of the current bin, as the protocol rounds them, times the highest position. */
export function edgePrices(
  { bidX64, askX64 }: PoolRecipe,
  { distanceE6, bins, bin }: PoolWords,
): readonly [bigint, bigint] {
  const mid = sqrt(bidX64 * askX64);
  const length = bins.get(bin)?.lengthE6 ?? 0n;
  return [(mid * (E6 + distanceE6)) / E6, (mid * (E6 + distanceE6 + length)) / E6];
}

/**
 * Input with the bin's fee for an output of the only bin, scaled, rounded down: trapezoid of the price over the output.
 */
export function areaUnderCurve(recipe: PoolRecipe, words: PoolWords, output: bigint, zeroForOne: boolean): bigint {
  const [lower, upper] = edgePrices(recipe, words);
  const bin = words.bins.get(words.bin);
  if (bin === undefined) throw new Error('the current bin is missing');
  const mid = sqrt(recipe.bidX64 * recipe.askX64);
  const addFee = zeroForOne ? bin.addFeeSellE6 : bin.addFeeBuyE6;
  // Fee as a fraction of 2^64: ask over mid, and the bin's own.
  const fee = (recipe.askX64 * Q64) / mid - Q64 + (addFee * Q64) / E6;
  const available = zeroForOne ? bin.balance1 : bin.balance0;
  const p = words.position;
  // Position where the output ends, as a fraction over `available`.
  const end = zeroForOne ? p * (available - output) : p * available + (MAX_POSITION - p) * output;
  const priceAt = (numerator: bigint, denominator: bigint) =>
    [lower * (MAX_POSITION * denominator - numerator) + upper * numerator, MAX_POSITION * denominator] as const;
  const [startN, startD] = priceAt(p, 1n);
  const [endN, endD] = priceAt(end, available);
  const [net, scale] = zeroForOne
    ? [output * Q64 * (startD * endN + endD * startN), 2n * startN * endN]
    : [output * (startN * endD + endN * startD), 2n * startD * endD * Q64];
  return (net * (Q64 + fee)) / (scale * Q64);
}

/** What one unit in the last place of the price is worth over an output: tiny prices have few digits. */
export function costOfPrice(output: bigint, { bidX64 }: PoolRecipe, zeroForOne: boolean): bigint {
  return zeroForOne ? (4n * output * Q64) / (bidX64 * bidX64) : (4n * output) / Q64;
}

import { capacity, fillCurve, foundAt, type TradeType } from '../../protocol/routing/fill-curve.ts';
import { integerField } from './integer-field.ts';

/** The fields of a depth level that the arithmetic reads, as the API sends them. */
export interface Level {
  /** Output received by walking through the end of this level, raw units. */
  readonly cumulativeVolume: string | bigint;
  /** Input paid for it, raw units. */
  readonly cumulativeInputVolume: string | bigint;
}

/** A sale of a given input, raw units. */
export interface ExactInQuote {
  readonly amountIn: bigint;
  /** Output received, rounded down. */
  readonly amountOutFloor: bigint;
}

/** A purchase of a given output, raw units. */
export interface ExactOutQuote {
  /** Input paid, rounded up. */
  readonly amountInCeil: bigint;
  readonly amountOut: bigint;
}

/** The order exceeds the depth of its side, so it would not fill completely. */
export class InsufficientDepthError extends RangeError {
  override readonly name = 'InsufficientDepthError';
  /** The amount that was requested, raw units. */
  readonly amount: bigint;
  /** The largest amount that the side takes, raw units. */
  readonly max: bigint;

  constructor(amount: bigint, max: bigint) {
    super(`Amount ${amount} exceeds the depth of the side, which takes ${max}`);
    this.amount = amount;
    this.max = max;
  }
}

/**
 * Computes the output of an exact input. It walks the levels from the best price outward, and interpolates volume
 * within the last one.
 *
 * @param levels one side of `depth`: `bids` to sell token0, `asks` to buy it
 * @param amountIn input, raw units, at least 0
 * @returns the output, rounded down; 0 for an input that buys less than one raw unit
 * @throws InsufficientDepthError beyond {@link maxIn}; RangeError below 0; MissingFieldError
 * @example const { amountOutFloor } = quoteExactIn(quote.depth.bids, 10n ** 18n);
 */
export function quoteExactIn(levels: readonly Level[], amountIn: bigint): ExactInQuote {
  return { amountIn, amountOutFloor: fill(levels, 'exact_in', amountIn) };
}

/**
 * Computes the input of an exact output, by the same walk as {@link quoteExactIn}.
 *
 * @param levels one side of `depth`: `bids` to sell token0, `asks` to buy it
 * @param amountOut output, raw units, at least 0
 * @returns the input, rounded up
 * @throws InsufficientDepthError beyond {@link maxOut}; RangeError below 0; MissingFieldError
 */
export function quoteExactOut(levels: readonly Level[], amountOut: bigint): ExactOutQuote {
  return { amountInCeil: fill(levels, 'exact_out', amountOut), amountOut };
}

/**
 * Gives the largest input that a side takes.
 *
 * @param levels one side of `depth`
 * @returns raw units of the input token; 0 for a closed side
 */
export function maxIn(levels: readonly Level[]): bigint {
  return capacity(curveOf(levels, 'exact_in'));
}

/**
 * Gives the largest output that a side pays.
 *
 * @param levels one side of `depth`
 * @returns raw units of the output token; 0 for a closed side
 */
export function maxOut(levels: readonly Level[]): bigint {
  return capacity(curveOf(levels, 'exact_out'));
}

function fill(levels: readonly Level[], tradeType: TradeType, amount: bigint): bigint {
  if (amount < 0n) throw new RangeError(`Amount ${amount} is negative`);
  const curve = curveOf(levels, tradeType);
  if (amount > capacity(curve)) throw new InsufficientDepthError(amount, capacity(curve));
  return foundAt(curve, amount);
}

function curveOf(levels: readonly Level[], tradeType: TradeType) {
  const amounts = levels.map(({ cumulativeInputVolume, cumulativeVolume }) => ({
    cumulativeInput: integerField('cumulativeInputVolume', cumulativeInputVolume),
    cumulativeOutput: integerField('cumulativeVolume', cumulativeVolume),
  }));
  return fillCurve(amounts, tradeType);
}

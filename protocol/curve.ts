import type { Address, Hex } from 'viem';
import type { CallResult } from './bounded-calls/bounded-calls.ts';
import type { DepthLevel } from './depth.ts';
import type { StopLossMark, StopLossState } from './stop-loss/stop-loss.ts';

/** Prices at the cursor for a trader who sells or buys token0, fees included, Q64.64. */
export interface SellAndBuyPrices {
  readonly sellX64: bigint;
  readonly buyX64: bigint;
}

/** What a provider quotes, token1 per whole token0, Q64.64. */
export interface BidAsk {
  readonly bidX64: bigint;
  readonly askX64: bigint;
}

/** What a swap takes and gives, raw units. */
export interface SwapAmounts {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** Both sides of a pool at one block and quote. */
export interface PoolCurve {
  readonly bids: PoolSide;
  readonly asks: PoolSide;
}

/** One direction of a pool at one block and quote. Amounts are exact inputs, raw units. */
export interface PoolSide {
  readonly zeroForOne: boolean;
  readonly levels: readonly DepthLevel[];
  /** The largest amount that one swap can carry. */
  readonly maxInput: bigint;
  /** The levels that amounts within a limit reach: whole levels, and a part of the next one, if that is known. */
  levelsWithin(limit: Omit<SideLimit, 'beyond'>): readonly DepthLevel[];
  /** The largest input found, raw units, for which the pool surely pays out no more than this output, raw units. */
  inputWithin(outputRaw: bigint): bigint;
  /** See `outputWithin` in `side-amounts.ts`; null where the curve is not known between its levels. */
  outputWithin(limitX64: bigint): bigint | null;
  /**
   * What a swap of an exact input up to the last level pays out, raw units, by the formula of the pool; null where the
   * curve is not known exactly between its levels.
   */
  readonly outputOf: ((inputRaw: bigint) => bigint) | null;
  /** How far a stop loss lets the side trade; null when it lets all of it. */
  stopLossLimit(mark: StopLossMark, state: StopLossState): SideLimit | null;
  /** Gas after which a simulated swap with known guards counts as refused; each bin adds to it. */
  readonly swapGasLimit: number;
  /**
   * Calldata for the pool of a simulated swap, which always reverts.
   *
   * @param amount raw units: positive = exact input, negative = exact output
   */
  simulation(amount: bigint, recipient: Address): Hex;
  /** Where the amount stands in that calldata, bytes. */
  readonly amountOffset: number;
  /** Reads how a simulated swap ended; the first four bytes of its result are enough. */
  swapOutcome(result: CallResult): SwapOutcome;
}

/** How far a side trades. Amounts are exact inputs, raw units. */
export interface SideLimit {
  /** This much fills, and so does every smaller amount; 0 closes the side. */
  readonly most: bigint;
  /** Index of the level that the limit lies before or inside. */
  readonly level: number;
  /** A slightly larger amount that is surely refused; null when that is not certain of any. */
  readonly beyond: bigint | null;
  /** Result of a simulated swap of `most`, where one was made. */
  readonly filled?: CallResult | undefined;
}

/**
 * How a simulated swap ended. It `fills`; a velocity guard rejected the price, whatever the amount (`velocity`);
 * something else `refused` it; or it ended without an error (`silence`), such as when the gas ran out. An amount is
 * `tooSmall` if it rounds to zero, and `tooLarge` if it exceeds what the pool holds or computes with: neither says
 * anything about guards.
 */
export type SwapOutcome = 'fills' | 'velocity' | 'refused' | 'silence' | 'tooSmall' | 'tooLarge';

/**
 * The smallest swap by which every pool shows whether it rejects: an exact output of one raw unit. An exact input of
 * one unit may buy less than a unit, which some pools reject whatever their guards say.
 */
export const SMALLEST_SWAP = -1n;

/** Whether guards or the pool rejected a swap for another reason than its amount. */
export const isRejection = (outcome: SwapOutcome | null | undefined): boolean =>
  outcome === 'velocity' || outcome === 'refused' || outcome === 'silence';

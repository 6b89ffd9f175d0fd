import type { Address, Hex } from 'viem';
import type { CallResult } from './bounded-calls/bounded-calls.ts';
import type { DepthLevel } from './depth.ts';
import type { StopLossMark, StopLossState } from './guards/stop-loss.ts';

/** What traders pay and get at the cursor, fees included, Q64.64. */
export interface SellAndBuyPrices {
  readonly sellX64: bigint;
  readonly buyX64: bigint;
}

/** What a provider quotes, token1 per whole token0, Q64.64. */
export interface BidAsk {
  readonly bidX64: bigint;
  readonly askX64: bigint;
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
  /** The levels that amounts within a limit reach: whole ones, and one more for what is left, if that is known. */
  levelsWithin(limit: Omit<SideLimit, 'beyond'>): readonly DepthLevel[];
  /** The largest input found, raw units, of which the pool surely gives no more than this output (raw units) that ends the side before its end. */
  inputWithin(outputRaw: bigint): bigint;
  /** As the function of this name in `side-curve.ts`; null where the curve is not known between its levels. */
  outputWithin(limitX64: bigint): bigint | null;
  /** How far a stop loss lets the side trade; null when it lets all of it. */
  stopLossLimit(mark: StopLossMark, state: StopLossState): SideLimit | null;
  /** Gas after which a simulated swap with known guards counts as refused, beside that of its bins. */
  readonly swapGasLimit: number;
  /**
   * Calldata for the pool of a simulated swap, which always reverts.
   *
   * @param amount raw units: positive = exact input, negative = exact output
   */
  simulation(amount: bigint, recipient: Address): Hex;
  /** Reads how a simulated swap ended, of whose result the first four bytes are enough. */
  swapOutcome(result: CallResult): SwapOutcome;
}

/** How far a side trades. Amounts are exact inputs, raw units. */
export interface SideLimit {
  /** This much fills, and so does every smaller amount; 0 closes the side. */
  readonly most: bigint;
  /** Index of the level that the limit lies before or inside. */
  readonly level: number;
  /** An amount a little larger that is refused; null when the next refusal is too shallow to be certain of. */
  readonly beyond: bigint | null;
  /** What the pool answered to a simulated swap of `most`, where there was one. */
  readonly filled?: CallResult | undefined;
}

/**
 * How a simulated swap ended: it `fills`; a velocity guard rejected the price, whatever the amount; something else
 * `refused` it; or it ended in `silence`, as when the gas ran out. An amount that is `tooSmall` rounds to zero, one that is
 * `tooLarge` is more than the pool holds or computes with: neither says anything of its guards.
 */
export type SwapOutcome = 'fills' | 'velocity' | 'refused' | 'silence' | 'tooSmall' | 'tooLarge';

/**
 * The smallest swap that shows a rejection of every pool: an exact output of one raw unit. An exact input of one may buy
 * less than a unit, which some cores reject whatever the guards say.
 */
export const SMALLEST_SWAP = -1n;

/** Whether guards or the pool rejected a swap, rather than its amount. */
export const isRejection = (outcome: SwapOutcome | null | undefined): boolean =>
  outcome === 'velocity' || outcome === 'refused' || outcome === 'silence';

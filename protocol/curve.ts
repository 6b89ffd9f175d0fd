import type { Address, Hex } from 'viem';
import type { CallResult } from './bounded-calls/bounded-calls.ts';
import type { DepthLevel } from './depth.ts';
import type { StopLossMark, StopLossState } from './guards/stop-loss.ts';

/** What traders pay and get at the cursor, fees included, Q64.64. */
export interface SellAndBuyPrices {
  readonly sellX64: bigint;
  readonly buyX64: bigint;
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
  /**
   * The levels that amounts up to `most` reach: whole ones, all before index `end`, and one more for what is left.
   *
   * @param filled what the pool answered to a simulated swap of `most`; a side that is only simulated has the last level from it
   */
  levelsWithin(most: bigint, end: number, filled?: CallResult): readonly DepthLevel[];
  /** How far a stop loss lets the side trade; null when it lets all of it. */
  stopLossLimit(mark: StopLossMark, state: StopLossState): SideLimit | null;
  /** Gas after which a simulated swap with known guards counts as refused, beside that of its bins. */
  readonly swapGasLimit: number;
  /** Calldata for the pool of a simulated swap, which always reverts. */
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
}

/**
 * How a simulated exact input ended: it `fills`; a velocity guard refused the price, whatever the amount; something else
 * `refused` it; or it ended in `silence`, as when the gas ran out.
 */
export type SwapOutcome = 'fills' | 'velocity' | 'refused' | 'silence';

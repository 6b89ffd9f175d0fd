import { type Address, encodeFunctionData, type Hex, parseAbi, prepareEncodeFunctionData } from 'viem';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { SwapOutcome } from '../../curve.ts';
import { MAX_UINT128 } from '../../fixed-point.ts';
import { simulatedAmounts, swapOutcome } from '../pool-errors.ts';
import type { ProviderQuote } from './provider-quote.ts';

/** Whether a pool's `simulateSwapAndRevert` takes a leading sender: it depends on the factory. */
export type SimulationForm = 'sender' | 'noSender';

export const SIMULATION_FORMS: readonly SimulationForm[] = ['sender', 'noSender'];

/** A swap to simulate. */
export interface SimulationOrder {
  readonly zeroForOne: boolean;
  /** Raw units: positive = exact input, negative = exact output. */
  readonly amountSpecified: bigint;
  /** What the provider says now: guards judge the prices that they are shown. */
  readonly quote: ProviderQuote;
  /** Who the swap is for; in the form with a sender, who swaps as well. */
  readonly trader: Address;
}

/** How a simulated swap ended: with amounts (raw units, positive into the pool), or without. */
export type SimulatedSwap =
  | { readonly outcome: 'fills'; readonly amount0Delta: bigint; readonly amount1Delta: bigint }
  | { readonly outcome: Exclude<SwapOutcome, 'fills'> };

const NO_SENDER_ABI = parseAbi([
  'function simulateSwapAndRevert(address recipient, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64, uint128 bidPriceX64, uint128 askPriceX64, uint128 referencePriceX64, bytes extensionData) returns (int128, int128)',
]);
const SENDER_ABI = parseAbi([
  'function simulateSwapAndRevert(address sender, address recipient, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64, uint128 bidPriceX64, uint128 askPriceX64, uint128 referencePriceX64, bytes extensionData) returns (int128, int128)',
]);
/**
 * Gas after which a simulated swap counts as refused, and more for each bin: some pools search for the output of an input,
 * which takes about a million for a single unit.
 */
export const SWAP_GAS_LIMIT = 2_000_000;

const WITH_SENDER = prepareEncodeFunctionData({ abi: SENDER_ABI });
const WITHOUT_SENDER = prepareEncodeFunctionData({ abi: NO_SENDER_ABI });

/** Calldata for the pool of a simulated swap without a price limit, which always reverts. */
export function encodeSimulation(form: SimulationForm, order: SimulationOrder): Hex {
  const { zeroForOne, amountSpecified, trader } = order;
  const { bidX64, askX64, referenceX64 } = order.quote;
  const limit = zeroForOne ? 0n : MAX_UINT128;
  const args = [trader, zeroForOne, amountSpecified, limit, bidX64, askX64, referenceX64, '0x'] as const;
  return form === 'sender'
    ? encodeFunctionData({ ...WITH_SENDER, args: [trader, ...args] })
    : encodeFunctionData({ ...WITHOUT_SENDER, args });
}

/** Bounds of a simulated swap of one unit, of which it only counts whether the pool knows the form. */
export const FORM_PROBE = { likelyGas: 500_000, gasLimit: 3_000_000, keptBytes: 4 };

/** Reads the result of a simulated swap with its amounts; amounts that were cut off count as silence. */
export function decodeSimulation(result: CallResult): SimulatedSwap {
  const outcome = swapOutcome(result);
  if (outcome !== 'fills') return { outcome };
  const amounts = simulatedAmounts(result);
  return amounts ? { outcome, ...amounts } : { outcome: 'silence' };
}

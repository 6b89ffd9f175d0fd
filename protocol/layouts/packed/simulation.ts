import { encodeFunctionData, parseAbi, prepareEncodeFunctionData } from 'viem';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { SwapOutcome } from '../../curve.ts';
import { MAX_UINT128 } from '../../fixed-point.ts';
import type { LayoutParts } from '../create-adapter.ts';
import { simulatedAmounts, swapOutcome } from '../pool-errors.ts';

/** Whether a pool's `simulateSwapAndRevert` takes a leading sender: it depends on the factory. */
export type SimulationForm = 'sender' | 'noSender';

export const SIMULATION_FORMS = ['sender', 'noSender'] as const satisfies readonly SimulationForm[];

/** How a simulated swap ended: with amounts (raw units, positive into the pool), or without. */
export type SimulatedSwap =
  | { readonly outcome: 'fills'; readonly amount0Delta: bigint; readonly amount1Delta: bigint }
  | { readonly outcome: Exclude<SwapOutcome, 'fills'> };

const WITHOUT_SENDER = prepareEncodeFunctionData({
  abi: parseAbi([
    'function simulateSwapAndRevert(address recipient, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64, uint128 bidPriceX64, uint128 askPriceX64, uint128 referencePriceX64, bytes extensionData) returns (int128, int128)',
  ]),
});
const WITH_SENDER = prepareEncodeFunctionData({
  abi: parseAbi([
    'function simulateSwapAndRevert(address sender, address recipient, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64, uint128 bidPriceX64, uint128 askPriceX64, uint128 referencePriceX64, bytes extensionData) returns (int128, int128)',
  ]),
});

/** How swaps of packed pools are simulated. */
export const packedSimulation = {
  forms: SIMULATION_FORMS,
  encode(form, { zeroForOne, amountSpecified, trader, quote: { bidX64, askX64, referenceX64 } }) {
    const limit = zeroForOne ? 0n : MAX_UINT128;
    const args = [trader, zeroForOne, amountSpecified, limit, bidX64, askX64, referenceX64, '0x'] as const;
    return form === 'sender'
      ? encodeFunctionData({ ...WITH_SENDER, args: [trader, ...args] })
      : encodeFunctionData({ ...WITHOUT_SENDER, args });
  },
  // Some pools search for the output of an input, which takes about a million for a single unit.
  gasLimit: 2_000_000,
} as const satisfies LayoutParts['simulation'];

/** Reads the result of a simulated swap with its amounts; amounts that were cut off count as silence. */
export function decodeSimulation(result: CallResult): SimulatedSwap {
  const outcome = swapOutcome(result);
  if (outcome !== 'fills') return { outcome };
  const amounts = simulatedAmounts(result);
  return amounts ? { outcome, ...amounts } : { outcome: 'silence' };
}

import { encodeFunctionData, parseAbi, prepareEncodeFunctionData } from 'viem';
import { MAX_UINT128 } from '../../fixed-point.ts';
import type { LayoutParts } from '../create-adapter.ts';

/** Whether a pool's `simulateSwapAndRevert` takes a leading sender: it depends on the factory. */
export const SIMULATION_FORMS = ['sender', 'noSender'] as const;
export type SimulationForm = (typeof SIMULATION_FORMS)[number];

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
  amountOffset: (form) => (form === 'sender' ? 4 + 3 * 32 : 4 + 2 * 32),
  // Some pools search for the output of an input, which takes about a million for a single unit.
  gasLimit: 2_000_000,
} as const satisfies LayoutParts['simulation'];

import { type Address, type ContractFunctionArgs, encodeFunctionData, type Hex, type Log, parseEventLogs } from 'viem';
import { type FactoryCall, noPriceLimit, type SwapAmounts, type SwapOrder, sendSwap } from '../actions.ts';
import { type DevChain, send, staticCall } from '../dev-chain.ts';
import { packedFactoryFunctions, packedPoolEvents, simulationAbis } from './abi.ts';
import type { PackedDeployment } from './deploy.ts';
import type { PackedQuote } from './providers.ts';

/**
 * Swaps through the router, which the trader has approved.
 *
 * @throws RevertedError when the pool or an extension refuses
 */
export async function packedSwap(
  chain: DevChain,
  deployment: PackedDeployment,
  order: SwapOrder & { readonly trader?: Address },
): Promise<SwapAmounts> {
  return packedSwapAmounts((await sendSwap(chain, deployment, order)).logs);
}

/** What a swap of a packed pool moved, by its logs. */
export function packedSwapAmounts(logs: Log[]): SwapAmounts {
  const [event] = parseEventLogs({ abi: packedPoolEvents, eventName: 'Swap', logs });
  if (event === undefined) throw new Error('the swap emitted no Swap');
  return amountsOf(event.args.amountDeltas);
}

/** Two int128 of a word: token0 in the high half. */
export function amountsOf(amountDeltas: bigint): SwapAmounts {
  return { amount0Delta: BigInt.asIntN(128, amountDeltas >> 128n), amount1Delta: BigInt.asIntN(128, amountDeltas) };
}

/** Revert data of a simulated swap at this quote: `SimulateSwap` with the amounts, or a refusal. */
export async function packedSimulation(
  chain: DevChain,
  { variant }: PackedDeployment,
  order: SwapOrder & PackedQuote & { readonly from?: Address; readonly sender?: Address },
): Promise<Hex> {
  const { pool, zeroForOne, amountSpecified, priceLimitX64 = noPriceLimit(zeroForOne) } = order;
  const from = order.from ?? chain.roles.trader;
  const { bidX64, askX64, referenceX64 } = order;
  const args = [from, zeroForOne, amountSpecified, priceLimitX64, bidX64, askX64, referenceX64, '0x'] as const;
  const functionName = 'simulateSwapAndRevert';
  const data =
    variant.simulation === 'sender'
      ? encodeFunctionData({ abi: simulationAbis.sender, functionName, args: [order.sender ?? from, ...args] })
      : encodeFunctionData({ abi: simulationAbis.noSender, functionName, args });
  return (await staticCall(chain, { from, to: pool, data })).data;
}

type Administration = Extract<
  (typeof packedFactoryFunctions)[number],
  { readonly stateMutability: 'nonpayable' }
>['name'];

/** Any administration that only this generation's factory has; the rest is `administer`. */
export async function administerPacked<F extends Administration>(
  chain: DevChain,
  deployment: PackedDeployment,
  { from, functionName, args }: FactoryCall<F, ContractFunctionArgs<typeof packedFactoryFunctions, 'nonpayable', F>>,
): Promise<void> {
  const data = encodeFunctionData({ abi: packedFactoryFunctions, functionName, args } as never);
  await send(chain, { from, to: deployment.poolFactory, data });
}

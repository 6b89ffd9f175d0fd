import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  type PublicClient,
  RpcRequestError,
} from 'viem';
import { quoterAbi } from '../../devnet/abi.ts';
import type { Batch } from './live-world.ts';

export type Overrides = NonNullable<Batch['overrides']>;

export interface ViemSwap {
  readonly pool: { readonly address: Address; readonly quoter: Address };
  readonly zeroForOne: boolean;
  readonly amountIn: bigint;
}

/**
 * What an `eth_call` of a swap at the head takes and pays, by viem and the quoter alone; null for a swap that reverts.
 */
export async function swapAtHead(
  node: PublicClient,
  { pool: { address, quoter }, zeroForOne, amountIn }: ViemSwap,
  overrides?: Overrides,
): Promise<{ readonly input: bigint; readonly output: bigint } | null> {
  const swap = { abi: quoterAbi, functionName: 'quote' } as const;
  const call = { to: quoter, data: encodeFunctionData({ ...swap, args: [address, zeroForOne, amountIn] }) };
  const { stateOverride, blockOverrides } = overrides ?? {};
  const params = overrides ? [call, 'latest', stateOverride, blockOverrides] : [call, 'latest'];
  try {
    const data = (await node.request({ method: 'eth_call', params } as never)) as Hex;
    const [amount0, amount1] = decodeFunctionResult({ ...swap, data });
    return zeroForOne ? { input: amount0, output: -amount1 } : { input: amount1, output: -amount0 };
  } catch (error) {
    if (error instanceof RpcRequestError && error.code === 3) return null;
    throw error;
  }
}

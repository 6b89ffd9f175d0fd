import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { TokenScale } from '../scaling.ts';

/** What never changes in a pool; fields and their order are the same in every layout. */
export const immutablesAbi = parseAbi([
  'struct PoolImmutables { address factory; address token0; address token1; uint256 token0ScaleMultiplier; uint256 token1ScaleMultiplier; uint256 initialScaledToken0PerShareE18; uint256 initialScaledToken1PerShareE18; uint256 minimalMintableLiquidity; address immutablePriceProvider; int256 lowestBin; int256 highestBin; address extension1; address extension2; address extension3; address extension4; address extension5; address extension6; address extension7; uint256 beforeAddLiquidityOrder; uint256 afterAddLiquidityOrder; uint256 beforeRemoveLiquidityOrder; uint256 afterRemoveLiquidityOrder; uint256 beforeSwapOrder; uint256 afterSwapOrder; }',
  'function getImmutables() view returns (PoolImmutables)',
]);

/** Calldata that asks a pool for its immutables, which include its scale: no event reports that. */
export const scaleCall: Hex = encodeFunctionData({ abi: immutablesAbi, functionName: 'getImmutables' });

export function decodeScale(answer: Hex): TokenScale {
  const immutables = decodeFunctionResult({ abi: immutablesAbi, functionName: 'getImmutables', data: answer });
  return { multiplier0: immutables.token0ScaleMultiplier, multiplier1: immutables.token1ScaleMultiplier };
}

import { parseAbi } from 'viem';

/** What pools of the flat layout ask their provider. */
export const flatProviderFunctions = parseAbi([
  'function getBidAndAskPrice() returns (uint128 bidPriceX64, uint128 askPriceX64)',
]);

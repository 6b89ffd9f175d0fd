import { parseAbi } from 'viem';

/** Functions of DepositAllowlist and SwapAllowlist that give a pool's settings, in every layout. */
export const allowlistFunctions = parseAbi([
  'function allowAllDepositors(address pool) view returns (bool)',
  'function allowedDepositor(address pool, address depositor) view returns (bool)',
  'function allowAllSwappers(address pool) view returns (bool)',
  'function allowedSwapper(address pool, address swapper) view returns (bool)',
]);

import { parseAbi } from 'viem';
import { commonPoolEvents } from '../common-events.ts';
import { immutablesAbi } from '../immutables.ts';

/** Events of a pool of the flat layout. */
export const flatPoolEvents = [
  ...commonPoolEvents,
  ...parseAbi([
    'struct BinBalanceDelta { int256 delta0Scaled; int256 delta1Scaled; }',
    'event BinSwapped(int256 binIdx, BinBalanceDelta delta, uint256 lpFeeAmount)',
    'event Swap(address indexed sender, address indexed recipient, bool exactInput, int256 amount0Delta, int256 amount1Delta, int8 newTick, uint104 newPositionInBin, uint256 protocolFeeAmount)',
    'event BinAdditionalFeesUpdated(int8 indexed bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)',
  ]),
] as const;

/** Functions of a pool of the flat layout. It has no view getters: its state is read with `extsload`. */
export const flatPoolFunctions = [
  ...immutablesAbi,
  ...parseAbi([
    'function getSellAndBuyPrices() returns (uint128 sellPriceX64, uint128 buyPriceX64)',
    'function extsload(bytes32[] slots) view returns (bytes32[])',
    'function simulateSwapAndRevert(address recipient, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64, uint128 bidPriceX64, uint128 askPriceX64, bytes extensionData) returns (int128, int128)',
  ]),
] as const;

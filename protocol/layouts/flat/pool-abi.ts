import { parseAbi } from 'viem';

/** Pool of the flat layout: what it emits. */
export const flatPoolEvents = parseAbi([
  'struct BinBalanceDelta { int256 delta0Scaled; int256 delta1Scaled; }',
  'event LiquidityAdded(address indexed provider, uint80 indexed salt, int256[] binIdxs, BinBalanceDelta[] binBalanceDeltas, uint256[] shares)',
  'event LiquidityRemoved(address indexed provider, uint80 indexed salt, int256[] binIdxs, BinBalanceDelta[] binBalanceDeltas, uint256[] shares)',
  'event BinSwapped(int256 binIdx, BinBalanceDelta delta, uint256 lpFeeAmount)',
  'event Swap(address indexed sender, address indexed recipient, bool exactInput, int256 amount0Delta, int256 amount1Delta, int8 newTick, uint104 newPositionInBin, uint256 protocolFeeAmount)',
  'event SpreadFeeUpdated(uint24 spreadFeeE6)',
  'event NotionalFeeUpdated(uint24 notionalFeeE8)',
  'event PauseLevelUpdated(uint8 previousLevel, uint8 newLevel)',
  'event PriceProviderUpdated(address indexed newPriceProvider)',
  'event BinAdditionalFeesUpdated(int8 indexed bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)',
  'event ProtocolFeesCollected(uint256 amount0ToProtocol, uint256 amount1ToProtocol, uint256 amount0ToAdmin, uint256 amount1ToAdmin)',
]);

/** Pool of the flat layout: calls. A pool has no view getters: its state is read with `extsload`. */
export const flatPoolFunctions = parseAbi([
  'struct PoolImmutables { address factory; address token0; address token1; uint256 token0ScaleMultiplier; uint256 token1ScaleMultiplier; uint256 initialScaledToken0PerShareE18; uint256 initialScaledToken1PerShareE18; uint256 minimalMintableLiquidity; address immutablePriceProvider; int256 lowestBin; int256 highestBin; address extension1; address extension2; address extension3; address extension4; address extension5; address extension6; address extension7; uint256 beforeAddLiquidityOrder; uint256 afterAddLiquidityOrder; uint256 beforeRemoveLiquidityOrder; uint256 afterRemoveLiquidityOrder; uint256 beforeSwapOrder; uint256 afterSwapOrder; }',
  'function getImmutables() view returns (PoolImmutables)',
  'function getSellAndBuyPrices() returns (uint128 sellPriceX64, uint128 buyPriceX64)',
  'function extsload(bytes32[] slots) view returns (bytes32[])',
  'function simulateSwapAndRevert(address recipient, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64, uint128 bidPriceX64, uint128 askPriceX64, bytes extensionData) returns (int128, int128)',
]);

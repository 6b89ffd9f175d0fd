import { parseAbi } from 'viem';
import { factoryEvents, factoryFunctions } from '../protocol/abi/factory.ts';
import { providerEvents, providerFunctions } from '../protocol/abi/providers.ts';
import { flatEventLayout } from '../protocol/layouts/flat/event-layout.ts';
import { flatPoolEvents, flatPoolFunctions } from '../protocol/layouts/flat/pool-abi.ts';

/* Whole ABIs of the protocol's contracts: what services read, and what only curators, traders and tests call. */

/** Reverts of a pool that a reader meets. */
export const poolErrors = parseAbi([
  'error SimulateSwap(int256 amount0Delta, int256 amount1Delta)',
  'error PriceProviderFailed(bytes reason)',
  'error BidGreaterThanAsk()',
  'error BidIsZero()',
  'error PoolPaused()',
  'error InvalidAmount()',
  'error AmountScaledExceedsMax()',
  'error NotAllowedToSwap()',
  'error ExtensionCallFailed()',
]);

export const flatPoolAbi = [
  ...flatPoolEvents,
  ...flatPoolFunctions,
  ...parseAbi([
    'struct LiquidityDelta { int256[] binIdxs; uint256[] shares; }',
    'function inSwap() view returns (address priceProvider)',
    'function extsload(bytes32 slot) view returns (bytes32)',
    'function extsload(bytes32 startSlot, uint256 nSlots) view returns (bytes32[])',
    'function swap(address recipient, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64, bytes callbackData, bytes extensionData) returns (int128, int128)',
    'function addLiquidity(address owner, uint80 salt, LiquidityDelta deltas, bytes callbackData, bytes extensionData) returns (uint256, uint256)',
    'function removeLiquidity(address owner, uint80 salt, LiquidityDelta deltas, bytes extensionData) returns (uint256, uint256)',
  ]),
  ...poolErrors,
] as const;

export const stopLossAbi = [
  ...flatEventLayout.abi.stopLoss,
  ...parseAbi([
    'function oracleStopLossConfig(address pool) view returns (uint32 drawdownE6, uint32 decayPerSecondE8, uint32 timelock, bool initialized)',
    'function highWatermarks(address pool, int8 bin) view returns (uint104 token0, uint104 token1, uint48 updatedAt)',
    'error OracleStopLossTriggered(int8 binIdx, bool isToken0Metric, uint256 currentMetric, uint256 threshold)',
  ]),
] as const;

export const factoryAbi = [
  ...factoryEvents,
  ...factoryFunctions,
  ...parseAbi([
    'struct ExtensionOrders { uint256 beforeAddLiquidity; uint256 afterAddLiquidity; uint256 beforeRemoveLiquidity; uint256 afterRemoveLiquidity; uint256 beforeSwap; uint256 afterSwap; }',
    'struct PoolParameters { address token0; address token1; address priceProvider; address[] extensions; ExtensionOrders extensionOrders; bytes[] extensionInitData; uint256 priceProviderTimelock; address admin; uint256 initialAmount0PerShareE18; uint256 initialAmount1PerShareE18; uint256 minimalMintableLiquidity; uint24 adminSpreadFeeE6; uint24 adminNotionalFeeE8; address adminFeeDestination; int24 curBinDistFromProvidedPriceE6; uint256[] nonNegativeBinDataArray; uint256[] negativeBinDataArray; bytes32 salt; }',
    'function createPool(PoolParameters params) returns (address pool)',
    'function poolFeeConfig(address pool) view returns (uint24 protocolSpreadFeeE6, uint24 adminSpreadFeeE6, uint24 protocolNotionalFeeE8, uint24 adminNotionalFeeE8)',
    'function poolAdmin(address pool) view returns (address)',
    'function pendingPoolAdmin(address pool) view returns (address)',
    'function pendingPriceProvider(address pool) view returns (address)',
    'function poolAdminFeeDestination(address pool) view returns (address)',
    'function priceProviderTimelock(address pool) view returns (uint256)',
    'function pendingPriceProviderExecuteAfter(address pool) view returns (uint256)',
    'function isPool(address pool) view returns (bool)',
    'function poolToIdx(address pool) view returns (uint256)',
    'function poolDeployer() view returns (address)',
    'function setPoolAdminFees(address pool, uint24 spreadFeeE6, uint24 notionalFeeE8)',
    'function setPoolProtocolFee(address pool, uint24 spreadFeeE6, uint24 notionalFeeE8)',
    'function setPoolAdminFeeDestination(address pool, address destination)',
    'function setPoolBinAdditionalFees(address pool, int8 bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)',
    'function pausePool(address pool)',
    'function unpausePool(address pool)',
    'function protocolPausePool(address pool)',
    'function protocolUnpausePool(address pool)',
    'function proposePoolPriceProvider(address pool, address newPriceProvider)',
    'function executePoolPriceProviderUpdate(address pool)',
    'function proposePoolAdminTransfer(address pool, address newAdmin)',
    'function acceptPoolAdmin(address pool)',
    'function cancelPoolAdminTransfer(address pool)',
    'function collectPoolFees(address pool)',
  ]),
] as const;

export const providerAbi = [
  ...providerEvents,
  ...providerFunctions,
  ...parseAbi([
    'function getBidAndAskPrice() returns (uint128 bidPriceX64, uint128 askPriceX64)',
    'function token0() view returns (address)',
    'function token1() view returns (address)',
    'function offchainOracle() view returns (address)',
    'function baseFeedId() view returns (bytes32)',
    'function quoteFeedId() view returns (bytes32)',
    'function minMargin() view returns (uint256)',
    'function MAX_REF_STALENESS() view returns (uint256)',
    'function MAX_SPREAD_BPS() view returns (uint16)',
    'function MUTABLE_PARAMS() view returns (bool)',
    'function source() view returns (address)',
    'function marginStep() view returns (int256)',
    'function MAX_TIME_DELTA() view returns (uint256)',
    'function offchainFeedId() view returns (bytes32)',
    'error FeedStalled()',
  ]),
] as const;

export const priceVelocityGuardAbi = [
  ...flatEventLayout.abi.priceVelocityGuard,
  ...parseAbi([
    'function priceVelocityState(address pool) view returns (uint128 lastMidPriceX64, uint64 lastUpdateBlock, uint64 maxChangePerBlockE18)',
    'error PriceVelocityExceeded(uint256 actualDeltaSqE36, uint256 allowedDeltaSqE36)',
  ]),
] as const;

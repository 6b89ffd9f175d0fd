import { parseAbi } from 'viem';

/** Calls and events of the packed generation's contracts that are not those of the flat one. */
export const packedPoolEvents = parseAbi([
  'event BinSwapped(int256 binIdx, uint256 binDeltas, uint256 fees)',
  'event Swap(address indexed sender, address indexed recipient, uint256 details, uint256 amountDeltas, uint256 platformFees)',
  'event BinAdditionalFeesUpdated(int16 indexed bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)',
  'event BidAskRefAsymmetryUpdated(uint16 bidAskRefAsymmetryX8)',
]);

/** By the form of a variant's simulation. */
export const simulationAbis = {
  noSender: parseAbi([
    'function simulateSwapAndRevert(address recipient, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64, uint128 bidPriceX64, uint128 askPriceX64, uint128 referencePriceX64, bytes extensionData) returns (int128, int128)',
  ]),
  sender: parseAbi([
    'function simulateSwapAndRevert(address sender, address recipient, bool zeroForOne, int128 amountSpecified, uint128 priceLimitX64, uint128 bidPriceX64, uint128 askPriceX64, uint128 referencePriceX64, bytes extensionData) returns (int128, int128)',
  ]),
} as const;

export const packedPoolErrors = parseAbi([
  'error FinalAmountIsZero()',
  'error ReferencePriceOutOfRange()',
  'error UnknownBin(int256 bin)',
]);

export const packedFactoryEvents = parseAbi([
  'event PoolBidAskRefAsymmetryUpdated(address indexed pool, uint16 newBidAskRefAsymmetryX8)',
  'event MaxBidAskRefAsymmetryUpdated(uint16 oldMaxX8, uint16 newMaxX8)',
  'event ModeratorUpdated(address indexed moderator, bool enabled)',
  'event FeeReceiverUpdated(address indexed oldReceiver, address indexed newReceiver)',
  'event BinDistanceLimitsUpdated(int256 newMinBinDistanceE6, int256 newMaxBinDistanceE6)',
]);

export const packedFactoryFunctions = parseAbi([
  'function setPoolBidAskRefAsymmetryX8(address pool, uint16 newBidAskRefAsymmetryX8)',
  'function setPoolBinAdditionalFees(address pool, int16 bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)',
  'function setModerator(address moderator, bool enabled)',
  'function setFeeReceiver(address newReceiver)',
  'function setMaxBidAskRefAsymmetryX8(uint16 newMaxX8)',
  'function setBinDistanceLimits(int128 newMinBinDistanceE6, int128 newMaxBinDistanceE6)',
  'function maxBidAskRefAsymmetryX8() view returns (uint16)',
  'function minBinDistanceE6() view returns (int128)',
  'function maxBinDistanceE6() view returns (int128)',
  'function feeReceiver() view returns (address)',
  'function isModerator(address account) view returns (bool)',
]);

export const quoteProviderAbi = parseAbi([
  'struct Quote { uint128 bidX64; uint128 askX64; uint128 referenceX64; }',
  'function token0() view returns (address)',
  'function token1() view returns (address)',
  'function getQuote() view returns (uint128 bidX64, uint128 askX64, uint128 referenceX64)',
  'function setQuote(Quote next)',
  'error NotInSwap()',
  'error FeedStalled()',
]);

/** Of the provider that is an extension as well. */
export const extensionProviderAbi = parseAbi([
  'function swapsOf(address pool) view returns (uint256)',
  'error NotMyQuote()',
]);

export const packedStopLossAbi = parseAbi([
  'event OracleStopLossHighWatermarkUpdated(address indexed pool, int16 binIdx, uint104 newHwmToken0, uint104 newHwmToken1)',
  'function oracleStopLossConfig(address pool) view returns (uint32 drawdownE6, uint64 decayPerSecondE18, uint40 timelock, bool initialized)',
  'function highWatermarks(address pool, int16 bin) view returns (uint104 token0, uint104 token1, uint40 updatedAt)',
  'error OracleStopLossTriggered(int16 binIdx, bool isToken0Metric, uint256 currentMetric, uint256 threshold)',
]);

export const packedVelocityAbi = parseAbi([
  'event MaxChangePerBlockSet(address indexed pool, uint64 newMaxPctChangePerBlockE18)',
  'event AnchorMidPriceUpdated(address indexed pool, uint128 newAnchorMidPriceX64)',
  'function priceVelocityState(address pool) view returns (uint128 anchorMidPriceX64, uint128 lastObservedMidPriceX64, uint64 anchorBlock, uint64 lastObservedBlock, uint64 maxChangePerBlockE18)',
  'function setMaxChangePerBlock(address pool, uint64 maxChangePerBlockE18)',
  'function setAnchorMidPrice(address pool, uint128 newAnchorMidPriceX64)',
  'error PriceVelocityExceeded(uint256 actualDeltaSqE36, uint256 allowedDeltaSqE36)',
]);

export const packedLensAbi = parseAbi([
  'function binStates(address pool, int16[] binIdxs) view returns (uint104[] token0Balances, uint104[] token1Balances, uint16[] lengthsE6, uint16[] addFeeBuysE6, uint16[] addFeeSellsE6, uint104[] totalShares)',
]);

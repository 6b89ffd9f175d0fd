import { parseAbi } from 'viem';

export const anchoredProviderFactoryEvents = parseAbi([
  'event ProviderDeployed(address indexed provider, address indexed creator, bytes32 indexed baseFeedId, bytes32 quoteFeedId, bytes32 classId, address base, address quote, uint256 minMargin, uint256 maxRefStaleness, uint16 maxSpreadBps, bool mutableParams, int256 marginStep, address oracle)',
  'event SourceSet(address indexed provider, address indexed source)',
]);

export const regularProviderFactoryEvents = parseAbi([
  'event ProviderDeployed(address indexed provider, address indexed creator, bytes32 indexed feedId, address oracle, address base, address quote, int256 marginStep, uint256 maxTimeDelta)',
]);

export const regularL2ProviderFactoryEvents = parseAbi([
  'event ProviderDeployed(address indexed provider, address indexed creator, bytes32 indexed feedId, address oracle, address base, address quote, int256 marginStep, uint256 maxTimeDelta, uint256 futureTolerance)',
]);

export const providerEvents = parseAbi(['event ConfidenceParamSet(uint256 indexed newValue)']);

export const providerFunctions = parseAbi([
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
  'function confidenceParam() view returns (uint256)',
  'function marginStep() view returns (int256)',
  'function MAX_TIME_DELTA() view returns (uint256)',
  'function offchainFeedId() view returns (bytes32)',
  'error FeedStalled()',
]);

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

export const providerFunctions = parseAbi(['function confidenceParam() view returns (uint256)']);

import { parseAbi } from 'viem';

/** Pool of the packed layout: what it emits. The first eight are those of the flat layout. */
export const packedPoolEvents = parseAbi([
  'struct BinBalanceDelta { int256 delta0Scaled; int256 delta1Scaled; }',
  'event LiquidityAdded(address indexed provider, uint80 indexed salt, int256[] binIdxs, BinBalanceDelta[] binBalanceDeltas, uint256[] shares)',
  'event LiquidityRemoved(address indexed provider, uint80 indexed salt, int256[] binIdxs, BinBalanceDelta[] binBalanceDeltas, uint256[] shares)',
  'event SpreadFeeUpdated(uint24 spreadFeeE6)',
  'event NotionalFeeUpdated(uint24 notionalFeeE8)',
  'event PauseLevelUpdated(uint8 previousLevel, uint8 newLevel)',
  'event PriceProviderUpdated(address indexed newPriceProvider)',
  'event ProtocolFeesCollected(uint256 amount0ToProtocol, uint256 amount1ToProtocol, uint256 amount0ToAdmin, uint256 amount1ToAdmin)',
  'event BinSwapped(int256 binIdx, uint256 binDeltas, uint256 fees)',
  'event Swap(address indexed sender, address indexed recipient, uint256 details, uint256 amountDeltas, uint256 platformFees)',
  'event BinAdditionalFeesUpdated(int16 indexed bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)',
  'event BidAskRefAsymmetryUpdated(uint16 bidAskRefAsymmetryX8)',
]);

/** Factory of packed pools: what it emits besides what every factory does. */
export const packedFactoryEvents = parseAbi([
  'event PoolBidAskRefAsymmetryUpdated(address indexed pool, uint16 newBidAskRefAsymmetryX8)',
  'event MaxBidAskRefAsymmetryUpdated(uint16 oldMaxX8, uint16 newMaxX8)',
  'event ModeratorUpdated(address indexed moderator, bool enabled)',
  'event FeeReceiverUpdated(address indexed oldReceiver, address indexed newReceiver)',
  'event BinDistanceLimitsUpdated(int256 newMinBinDistanceE6, int256 newMaxBinDistanceE6)',
]);

import { parseAbi } from 'viem';
import { commonPoolEvents } from '../common-events.ts';

/** Events of a pool of the packed layout. */
export const packedPoolEvents = [
  ...commonPoolEvents,
  ...parseAbi([
    'event BinSwapped(int256 binIdx, uint256 binDeltas, uint256 fees)',
    'event Swap(address indexed sender, address indexed recipient, uint256 details, uint256 amountDeltas, uint256 platformFees)',
    'event BinAdditionalFeesUpdated(int16 indexed bin, uint16 addFeeBuyE6, uint16 addFeeSellE6)',
    'event BidAskRefAsymmetryUpdated(uint16 bidAskRefAsymmetryX8)',
  ]),
] as const;

/** Events of a factory of packed pools, besides those of every factory. */
export const packedFactoryEvents = parseAbi([
  'event PoolBidAskRefAsymmetryUpdated(address indexed pool, uint16 newBidAskRefAsymmetryX8)',
  'event MaxBidAskRefAsymmetryUpdated(uint16 oldMaxX8, uint16 newMaxX8)',
  'event ModeratorUpdated(address indexed moderator, bool enabled)',
  'event FeeReceiverUpdated(address indexed oldReceiver, address indexed newReceiver)',
  'event BinDistanceLimitsUpdated(int256 newMinBinDistanceE6, int256 newMaxBinDistanceE6)',
]);

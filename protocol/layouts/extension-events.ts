import { parseAbi } from 'viem';

/** Settings of a pool at a StopLoss, in every layout; the unit of the decay is the layout's. */
export const stopLossSettingEvents = parseAbi([
  'event OracleStopLossDrawdownSet(address indexed pool, uint256 newMaxDrawdownE6)',
  'event OracleStopLossDecaySet(address indexed pool, uint256 newDecayPerSecond)',
  'event OracleStopLossTimelockSet(address indexed pool, uint256 newTimelock)',
  'event OracleStopLossDrawdownProposed(address indexed pool, uint256 value, uint256 executeAfter)',
  'event OracleStopLossDecayProposed(address indexed pool, uint256 value, uint256 executeAfter)',
  'event OracleStopLossTimelockProposed(address indexed pool, uint256 value, uint256 executeAfter)',
  'event OracleStopLossDrawdownCancelled(address indexed pool)',
  'event OracleStopLossDecayCancelled(address indexed pool)',
  'event OracleStopLossTimelockCancelled(address indexed pool)',
]);

/** The limit of a pool at a PriceVelocityGuard, in every layout. */
export const velocityLimitEvents = parseAbi([
  'event MaxChangePerBlockSet(address indexed pool, uint64 newMaxPctChangePerBlockE18)',
]);

export const depositAllowlistEvents = parseAbi([
  'event AllowedToDepositSet(address indexed pool, address indexed depositor, bool allowed)',
  'event AllowAllDepositorsSet(address indexed pool, bool allowed)',
]);

export const swapAllowlistEvents = parseAbi([
  'event AllowedToSwapSet(address indexed pool, address indexed swapper, bool allowed)',
  'event AllowAllSwappersSet(address indexed pool, bool allowed)',
]);

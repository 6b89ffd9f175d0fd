import { parseAbi } from 'viem';

/** Events of a pool's settings at a StopLoss, the same in every layout; only the unit of the decay differs. */
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

/** The event of a pool's limit at a PriceVelocityGuard, the same in every layout. */
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

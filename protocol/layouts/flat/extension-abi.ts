import { parseAbi } from 'viem';

export const stopLossEvents = parseAbi([
  'event OracleStopLossDrawdownSet(address indexed pool, uint256 newMaxDrawdownE6)',
  'event OracleStopLossDecaySet(address indexed pool, uint256 newDecayPerSecondE8)',
  'event OracleStopLossTimelockSet(address indexed pool, uint256 newTimelock)',
  'event OracleStopLossDrawdownProposed(address indexed pool, uint256 value, uint256 executeAfter)',
  'event OracleStopLossDecayProposed(address indexed pool, uint256 value, uint256 executeAfter)',
  'event OracleStopLossTimelockProposed(address indexed pool, uint256 value, uint256 executeAfter)',
  'event OracleStopLossDrawdownCancelled(address indexed pool)',
  'event OracleStopLossDecayCancelled(address indexed pool)',
  'event OracleStopLossTimelockCancelled(address indexed pool)',
  'event OracleStopLossHighWatermarkUpdated(address indexed pool, int8 binIdx, uint104 newHwmToken0, uint104 newHwmToken1)',
]);

export const stopLossAbi = [
  ...stopLossEvents,
  ...parseAbi([
    'function oracleStopLossConfig(address pool) view returns (uint32 drawdownE6, uint32 decayPerSecondE8, uint32 timelock, bool initialized)',
    'function highWatermarks(address pool, int8 bin) view returns (uint104 token0, uint104 token1, uint48 updatedAt)',
    'error OracleStopLossTriggered(int8 binIdx, bool isToken0Metric, uint256 currentMetric, uint256 threshold)',
  ]),
] as const;

export const priceVelocityGuardEvents = parseAbi([
  'event MaxChangePerBlockSet(address indexed pool, uint64 newMaxPctChangePerBlockE18)',
  'event LastMidPriceUpdated(address indexed pool, uint128 newLastMidPriceX64)',
]);

export const depositAllowlistEvents = parseAbi([
  'event AllowedToDepositSet(address indexed pool, address indexed depositor, bool allowed)',
  'event AllowAllDepositorsSet(address indexed pool, bool allowed)',
]);

export const swapAllowlistEvents = parseAbi([
  'event AllowedToSwapSet(address indexed pool, address indexed swapper, bool allowed)',
  'event AllowAllSwappersSet(address indexed pool, bool allowed)',
]);

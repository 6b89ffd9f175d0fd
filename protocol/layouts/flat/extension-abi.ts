import { parseAbi } from 'viem';
import { stopLossSettingEvents, velocityLimitEvents } from '../extension-events.ts';

export const stopLossEvents = [
  ...stopLossSettingEvents,
  ...parseAbi([
    'event OracleStopLossHighWatermarkUpdated(address indexed pool, int8 binIdx, uint104 newHwmToken0, uint104 newHwmToken1)',
  ]),
] as const;

export const stopLossAbi = [
  ...stopLossEvents,
  ...parseAbi([
    'function oracleStopLossConfig(address pool) view returns (uint32 drawdownE6, uint32 decayPerSecondE8, uint32 timelock, bool initialized)',
    'function highWatermarks(address pool, int8 bin) view returns (uint104 token0, uint104 token1, uint48 updatedAt)',
    'error OracleStopLossTriggered(int8 binIdx, bool isToken0Metric, uint256 currentMetric, uint256 threshold)',
  ]),
] as const;

export const priceVelocityGuardEvents = [
  ...velocityLimitEvents,
  ...parseAbi(['event LastMidPriceUpdated(address indexed pool, uint128 newLastMidPriceX64)']),
] as const;

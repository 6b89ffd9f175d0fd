import { parseAbi } from 'viem';
import { stopLossSettingEvents, velocityLimitEvents } from '../extension-events.ts';

export const stopLossEvents = [
  ...stopLossSettingEvents,
  ...parseAbi([
    'event OracleStopLossHighWatermarkUpdated(address indexed pool, int8 binIdx, uint104 newHwmToken0, uint104 newHwmToken1)',
  ]),
] as const;

export const priceVelocityGuardEvents = [
  ...velocityLimitEvents,
  ...parseAbi(['event LastMidPriceUpdated(address indexed pool, uint128 newLastMidPriceX64)']),
] as const;

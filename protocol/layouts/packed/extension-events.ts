import { parseAbi } from 'viem';
import { stopLossSettingEvents, velocityLimitEvents } from '../extension-events.ts';

/** StopLoss of the packed layout: bins of 16 bits, decay in parts of 10^18. */
export const packedStopLossEvents = [
  ...stopLossSettingEvents,
  ...parseAbi([
    'event OracleStopLossHighWatermarkUpdated(address indexed pool, int16 binIdx, uint104 newHwmToken0, uint104 newHwmToken1)',
  ]),
] as const;

/** PriceVelocityGuard of the packed layout. Its anchor also moves with swaps, without an event. */
export const packedVelocityGuardEvents = [
  ...velocityLimitEvents,
  ...parseAbi(['event AnchorMidPriceUpdated(address indexed pool, uint128 newAnchorMidPriceX64)']),
] as const;

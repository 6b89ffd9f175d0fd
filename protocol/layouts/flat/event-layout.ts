import { parseAbi } from 'viem';
import type { EventLayout } from '../../layout.ts';
import { stopLossSettingEvents, velocityLimitEvents } from '../extension-events.ts';
import { flatEvents } from './events.ts';
import { flatPoolEvents } from './pool-abi.ts';

/** What the indexer needs of the flat layout. */
export const flatEventLayout = {
  abi: {
    factory: [],
    pool: flatPoolEvents,
    stopLoss: [
      ...stopLossSettingEvents,
      ...parseAbi([
        'event OracleStopLossHighWatermarkUpdated(address indexed pool, int8 binIdx, uint104 newHwmToken0, uint104 newHwmToken1)',
      ]),
    ],
    priceVelocityGuard: [
      ...velocityLimitEvents,
      ...parseAbi(['event LastMidPriceUpdated(address indexed pool, uint128 newLastMidPriceX64)']),
    ],
  },
  sources: { pool: 'FlatPool', stopLoss: 'StopLoss', priceVelocityGuard: 'PriceVelocityGuard' },
  stopLossDecay: 'E8',
  midPriceEvent: 'LastMidPriceUpdated',
  logsSwapState: true,
  discovers: false,
  poolEvents: flatEvents,
} as const satisfies EventLayout;

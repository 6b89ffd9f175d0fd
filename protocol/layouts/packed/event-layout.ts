import { parseAbi } from 'viem';
import type { EventLayout } from '../../layout.ts';
import { stopLossSettingEvents, velocityLimitEvents } from '../extension-events.ts';
import { packedFactoryEvents, packedPoolEvents } from './abi.ts';
import { packedEvents } from './events.ts';

/** What the indexer needs of the packed layout. */
export const packedEventLayout = {
  abi: {
    factory: packedFactoryEvents,
    pool: packedPoolEvents,
    // Bins of 16 bits, decay in parts of 10^18.
    stopLoss: [
      ...stopLossSettingEvents,
      ...parseAbi([
        'event OracleStopLossHighWatermarkUpdated(address indexed pool, int16 binIdx, uint104 newHwmToken0, uint104 newHwmToken1)',
      ]),
    ],
    // The anchor also moves with swaps, without an event.
    priceVelocityGuard: [
      ...velocityLimitEvents,
      ...parseAbi(['event AnchorMidPriceUpdated(address indexed pool, uint128 newAnchorMidPriceX64)']),
    ],
  },
  sources: { pool: 'PackedPool', stopLoss: 'PackedStopLoss', priceVelocityGuard: 'PackedPriceVelocityGuard' },
  stopLossDecay: 'E18',
  midPriceEvent: 'AnchorMidPriceUpdated',
  logsSwapState: false,
  discovers: true,
  poolEvents: packedEvents,
} as const satisfies EventLayout;

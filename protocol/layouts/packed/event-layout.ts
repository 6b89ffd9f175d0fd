import type { EventLayout } from '../../layout.ts';
import { packedFactoryEvents, packedPoolEvents } from './abi.ts';
import { packedEvents } from './events.ts';
import { packedStopLossEvents, packedVelocityGuardEvents } from './extension-events.ts';

/** What the indexer needs of the packed layout. */
export const packedEventLayout = {
  abi: {
    factory: packedFactoryEvents,
    pool: packedPoolEvents,
    stopLoss: packedStopLossEvents,
    priceVelocityGuard: packedVelocityGuardEvents,
  },
  sources: { pool: 'PackedPool', stopLoss: 'PackedStopLoss', priceVelocityGuard: 'PackedPriceVelocityGuard' },
  stopLossDecay: 'E18',
  midPriceEvent: 'AnchorMidPriceUpdated',
  logsSwapState: false,
  discovers: true,
  poolEvents: packedEvents,
} as const satisfies EventLayout;

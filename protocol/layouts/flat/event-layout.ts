import type { EventLayout } from '../../layout.ts';
import { flatEvents } from './events.ts';
import { priceVelocityGuardEvents, stopLossEvents } from './extension-events.ts';
import { flatPoolEvents } from './pool-abi.ts';

/** What the indexer needs of the flat layout. */
export const flatEventLayout = {
  abi: {
    factory: [],
    pool: flatPoolEvents,
    stopLoss: stopLossEvents,
    priceVelocityGuard: priceVelocityGuardEvents,
  },
  sources: { pool: 'FlatPool', stopLoss: 'StopLoss', priceVelocityGuard: 'PriceVelocityGuard' },
  stopLossDecay: 'E8',
  midPriceEvent: 'LastMidPriceUpdated',
  logsSwapState: true,
  discovers: false,
  poolEvents: flatEvents,
} as const satisfies EventLayout;

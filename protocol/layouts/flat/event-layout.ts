import type { EventLayout } from '../../layout.ts';
import { normalisePoolCreated } from '../common-events.ts';
import { decodeScale, scaleCall } from '../immutables.ts';
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
  poolCreated: normalisePoolCreated,
  poolEvents: flatEvents,
  scaleCall,
  decodeScale,
} as const satisfies EventLayout;

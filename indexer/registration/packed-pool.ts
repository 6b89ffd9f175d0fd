import { ponder } from 'ponder:registry';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';
import { placeOf, referenceOf } from '../handlers/context.ts';
import { updatePriceVelocity } from '../handlers/extensions.ts';
import { updateFactory } from '../handlers/factory.ts';
import { holdPackedBinSwap, recordPackedSwap } from '../handlers/packed-trading.ts';
import { updatePoolState } from '../handlers/pool-settings.ts';

const packedEvents = eventLayouts.packed.poolEvents;

ponder.on('PackedPool:BinSwapped', ({ event, context }) =>
  holdPackedBinSwap(referenceOf(event, context), event.log.address, packedEvents.BinSwapped(event.args)),
);

ponder.on('PackedPool:Swap', ({ event, context }) =>
  recordPackedSwap(context, placeOf(event, context), event.log.address, packedEvents.Swap(event.args)),
);

// The factory's PoolBidAskRefAsymmetryUpdated tells the same.
ponder.on('PackedPool:BidAskRefAsymmetryUpdated', ({ event, context }) => {
  const { asymmetryX8 } = packedEvents.BidAskRefAsymmetryUpdated(event.args);
  return updatePoolState(context, placeOf(event, context), event.log.address, { bidAskRefAsymmetryX8: asymmetryX8 });
});

ponder.on('PoolFactory:MaxBidAskRefAsymmetryUpdated', ({ event, context }) =>
  updateFactory(context, placeOf(event, context), event.log.address, { maxBidAskRefAsymmetryX8: event.args.newMaxX8 }),
);

ponder.on('PoolFactory:BinDistanceLimitsUpdated', ({ event, context }) =>
  updateFactory(context, placeOf(event, context), event.log.address, {
    minBinDistanceE6: event.args.newMinBinDistanceE6,
    maxBinDistanceE6: event.args.newMaxBinDistanceE6,
  }),
);

ponder.on('PoolFactory:FeeReceiverUpdated', ({ event, context }) =>
  updateFactory(context, placeOf(event, context), event.log.address, { feeReceiver: event.args.newReceiver }),
);

ponder.on('PackedPriceVelocityGuard:AnchorMidPriceUpdated', ({ event, context }) => {
  const place = placeOf(event, context);
  const key = { address: event.log.address, pool: event.args.pool };
  return updatePriceVelocity(context, place, key, {
    lastMidPriceX64: event.args.newAnchorMidPriceX64,
    lastMidPriceBlock: place.blockNumber,
  });
});

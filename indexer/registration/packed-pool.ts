import { ponder } from 'ponder:registry';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';
import { placeOf, referenceOf } from '../handlers/context.ts';
import { openPackedSwaps, recordPackedSwap } from '../handlers/packed-trading.ts';
import { updatePoolState } from '../handlers/pool-settings.ts';
import { changeSettings } from '../handlers/settings.ts';
import { priceVelocity } from '../schema/extensions.ts';

const packedEvents = eventLayouts.packed.poolEvents;

ponder.on('PackedPool:BinSwapped', ({ event, context }) =>
  openPackedSwaps.add(referenceOf(event, context), event.log.address, packedEvents.BinSwapped(event.args)),
);

ponder.on('PackedPool:Swap', ({ event, context }) =>
  recordPackedSwap(context, placeOf(event, context), event.log.address, packedEvents.Swap(event.args)),
);

// The factory reports the same change by PoolBidAskRefAsymmetryUpdated, which needs no handler.
ponder.on('PackedPool:BidAskRefAsymmetryUpdated', ({ event, context }) => {
  const { asymmetryX8 } = packedEvents.BidAskRefAsymmetryUpdated(event.args);
  return updatePoolState(context, placeOf(event, context), event.log.address, { bidAskRefAsymmetryX8: asymmetryX8 });
});

ponder.on('PackedPriceVelocityGuard:AnchorMidPriceUpdated', ({ event, context }) => {
  const place = placeOf(event, context);
  const key = { address: event.log.address, pool: event.args.pool };
  const changes = { lastMidPriceX64: event.args.newAnchorMidPriceX64, lastMidPriceBlock: place.blockNumber };
  return changeSettings(context, place, priceVelocity, key, changes);
});

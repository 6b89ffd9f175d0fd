import { ponder } from 'ponder:registry';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';
import { placeOf, referenceOf } from '../handlers/context.ts';
import { updateBinFees, updatePool, updatePoolState } from '../handlers/pool-settings.ts';
import { holdBinSwap, recordFeeCollection, recordLiquidityChange, recordSwap } from '../handlers/trading.ts';

const flatEvents = eventLayouts.flat.poolEvents;

ponder.on('FlatPool:BinSwapped', ({ event, context }) =>
  holdBinSwap(referenceOf(event, context), event.log.address, flatEvents.BinSwapped(event.args)),
);

ponder.on('FlatPool:Swap', ({ event, context }) =>
  recordSwap(context, placeOf(event, context), event.log.address, flatEvents.Swap(event.args)),
);

ponder.on('FlatPool:LiquidityAdded', ({ event, context }) =>
  recordLiquidityChange(context, placeOf(event, context), event.log.address, flatEvents.LiquidityAdded(event.args)),
);

ponder.on('FlatPool:LiquidityRemoved', ({ event, context }) =>
  recordLiquidityChange(context, placeOf(event, context), event.log.address, flatEvents.LiquidityRemoved(event.args)),
);

ponder.on('FlatPool:ProtocolFeesCollected', ({ event, context }) =>
  recordFeeCollection(
    context,
    placeOf(event, context),
    event.log.address,
    flatEvents.ProtocolFeesCollected(event.args),
  ),
);

ponder.on('FlatPool:SpreadFeeUpdated', ({ event, context }) => {
  const { spreadFeeE6 } = flatEvents.SpreadFeeUpdated(event.args);
  return updatePoolState(context, placeOf(event, context), event.log.address, { spreadFeeE6 });
});

ponder.on('FlatPool:NotionalFeeUpdated', ({ event, context }) => {
  const { notionalFeeE8 } = flatEvents.NotionalFeeUpdated(event.args);
  return updatePoolState(context, placeOf(event, context), event.log.address, { notionalFeeE8 });
});

ponder.on('FlatPool:PauseLevelUpdated', ({ event, context }) => {
  const { newLevel } = flatEvents.PauseLevelUpdated(event.args);
  return updatePoolState(context, placeOf(event, context), event.log.address, { pauseLevel: newLevel });
});

ponder.on('FlatPool:PriceProviderUpdated', ({ event, context }) => {
  const place = placeOf(event, context);
  const { priceProvider } = flatEvents.PriceProviderUpdated(event.args);
  const changes = { priceProvider, priceProviderSinceBlock: place.blockNumber };
  return updatePool(context, place, event.log.address, changes);
});

ponder.on('FlatPool:BinAdditionalFeesUpdated', ({ event, context }) => {
  const { bin, addFeeBuyE6, addFeeSellE6 } = flatEvents.BinAdditionalFeesUpdated(event.args);
  return updateBinFees(context, placeOf(event, context), event.log.address, bin, { addFeeBuyE6, addFeeSellE6 });
});

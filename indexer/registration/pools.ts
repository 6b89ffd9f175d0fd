import { ponder } from 'ponder:registry';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';
import { placeOf } from '../handlers/context.ts';
import { updatePool, updatePoolState } from '../handlers/pool-settings.ts';
import { recordFeeCollection, recordLiquidityChange } from '../handlers/trading.ts';
import { changeBinFees } from '../reducers/bins.ts';

// Handlers of the events that pools of every layout log.
for (const {
  sources: { pool: source },
  poolEvents: events,
} of Object.values(eventLayouts)) {
  ponder.on(`${source}:LiquidityAdded`, ({ event, context }) =>
    recordLiquidityChange(context, placeOf(event, context), event.log.address, events.LiquidityAdded(event.args)),
  );

  ponder.on(`${source}:LiquidityRemoved`, ({ event, context }) =>
    recordLiquidityChange(context, placeOf(event, context), event.log.address, events.LiquidityRemoved(event.args)),
  );

  ponder.on(`${source}:ProtocolFeesCollected`, ({ event, context }) =>
    recordFeeCollection(context, placeOf(event, context), event.log.address, events.ProtocolFeesCollected(event.args)),
  );

  ponder.on(`${source}:SpreadFeeUpdated`, ({ event, context }) => {
    const { spreadFeeE6 } = events.SpreadFeeUpdated(event.args);
    return updatePoolState(context, placeOf(event, context), event.log.address, { spreadFeeE6 });
  });

  ponder.on(`${source}:NotionalFeeUpdated`, ({ event, context }) => {
    const { notionalFeeE8 } = events.NotionalFeeUpdated(event.args);
    return updatePoolState(context, placeOf(event, context), event.log.address, { notionalFeeE8 });
  });

  ponder.on(`${source}:PauseLevelUpdated`, ({ event, context }) => {
    const { newLevel: pauseLevel } = events.PauseLevelUpdated(event.args);
    return updatePoolState(context, placeOf(event, context), event.log.address, { pauseLevel });
  });

  ponder.on(`${source}:PriceProviderUpdated`, ({ event, context }) => {
    const place = placeOf(event, context);
    const { priceProvider } = events.PriceProviderUpdated(event.args);
    const changes = { priceProvider, priceProviderSinceBlock: place.blockNumber };
    return updatePool(context, place, event.log.address, () => changes);
  });

  ponder.on(`${source}:BinAdditionalFeesUpdated`, ({ event, context }) => {
    const update = events.BinAdditionalFeesUpdated(event.args);
    return updatePool(context, placeOf(event, context), event.log.address, (pool) => changeBinFees(pool, update));
  });
}

import { ponder } from 'ponder:registry';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';
import { placeOf, referenceOf } from '../handlers/context.ts';
import { changeSettings } from '../handlers/settings.ts';
import { openSwaps, recordSwap } from '../handlers/trading.ts';
import { priceVelocity } from '../schema/extensions.ts';

const flatEvents = eventLayouts.flat.poolEvents;

ponder.on('FlatPool:BinSwapped', ({ event, context }) =>
  openSwaps.add(referenceOf(event, context), event.log.address, flatEvents.BinSwapped(event.args)),
);

ponder.on('FlatPool:Swap', ({ event, context }) =>
  recordSwap(context, placeOf(event, context), event.log.address, flatEvents.Swap(event.args)),
);

ponder.on('PriceVelocityGuard:LastMidPriceUpdated', ({ event, context }) => {
  const place = placeOf(event, context);
  const key = { address: event.log.address, pool: event.args.pool };
  const changes = { lastMidPriceX64: event.args.newLastMidPriceX64, lastMidPriceBlock: place.blockNumber };
  return changeSettings(context, place, priceVelocity, key, changes);
});

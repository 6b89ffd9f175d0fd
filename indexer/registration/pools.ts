import { type Context, type Event, ponder } from 'ponder:registry';
import type { EventLayout } from '../../protocol/layout.ts';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';
import type { PoolEvent } from '../../protocol/pool-events.ts';
import { placeOf, referenceOf, sentPlaceOf } from '../handlers/context.ts';
import { openPackedSwaps, recordPackedSwap } from '../handlers/packed-trading.ts';
import { updatePool, updatePoolState } from '../handlers/pool-settings.ts';
import { openSwaps, recordFeeCollection, recordLiquidityChange, recordSwap } from '../handlers/trading.ts';
import { changeBinFees } from '../reducers/bins.ts';

/** Any log of a pool: what its layout makes of the arguments says which one it was. */
type PoolLog = {
  readonly event: Pick<Event<'FlatPool:Swap'>, 'block' | 'log' | 'transaction'>;
  readonly context: Context;
};

for (const { sources, poolEvents } of Object.values<EventLayout>(eventLayouts)) {
  for (const [name, normalise] of Object.entries(poolEvents)) {
    // The cast to one event name stands for all of them: each function gets the arguments of its own event.
    ponder.on(`${sources.pool}:${name}` as 'FlatPool:Swap', (log) => record(log, normalise(log.event.args as never)));
  }
}

/** Changes the index by one event of a pool, whatever its layout. */
function record({ event, context }: PoolLog, change: PoolEvent): Promise<void> | void {
  const pool = event.log.address;
  if (change.kind === 'binSwapped') return openSwaps.add(referenceOf(event, context), pool, change);
  if (change.kind === 'packedBinSwapped') return openPackedSwaps.add(referenceOf(event, context), pool, change);
  if (change.kind === 'swapped') return recordSwap(context, sentPlaceOf(event, context), pool, change);
  if (change.kind === 'packedSwapped') return recordPackedSwap(context, sentPlaceOf(event, context), pool, change);
  if (change.kind === 'liquidityChanged')
    return recordLiquidityChange(context, sentPlaceOf(event, context), pool, change);
  const place = placeOf(event, context);
  switch (change.kind) {
    case 'feesCollected':
      return recordFeeCollection(context, place, pool, change);
    case 'spreadFeeUpdated':
      return updatePoolState(context, place, pool, { spreadFeeE6: change.spreadFeeE6 });
    case 'notionalFeeUpdated':
      return updatePoolState(context, place, pool, { notionalFeeE8: change.notionalFeeE8 });
    case 'pauseLevelUpdated':
      return updatePoolState(context, place, pool, { pauseLevel: change.newLevel });
    // The factory reports the same change by PoolBidAskRefAsymmetryUpdated, which needs no handler.
    case 'asymmetryUpdated':
      return updatePoolState(context, place, pool, { bidAskRefAsymmetryX8: change.asymmetryX8 });
    case 'priceProviderUpdated': {
      const changes = { priceProvider: change.priceProvider, priceProviderSinceBlock: place.blockNumber };
      return updatePool(context, place, pool, () => changes);
    }
    case 'binFeesUpdated':
      return updatePool(context, place, pool, (row) => changeBinFees(row, change));
    default:
      return change satisfies never;
  }
}

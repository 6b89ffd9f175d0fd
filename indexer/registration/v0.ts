import { ponder } from 'ponder:registry';
import { placeOf, sentPlaceOf } from '../handlers/context.ts';
import { recordV0Pool, recordV0Swap } from '../handlers/v0.ts';

ponder.on('V0PoolFactory:PoolCreated', ({ event, context }) =>
  recordV0Pool(context, placeOf(event, context), event.args),
);

ponder.on('V0Pool:Swap', ({ event, context }) =>
  recordV0Swap(context, sentPlaceOf(event, context), event.log.address, event.args),
);

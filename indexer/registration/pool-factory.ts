import { ponder } from 'ponder:registry';
import { eventLayoutOf, multicallOf } from '../chains.ts';
import { placeOf } from '../handlers/context.ts';
import { recordFactoryCollection, updateFactory } from '../handlers/factory.ts';
import { recordPoolCreation } from '../handlers/pool-creation.ts';
import { pendingProviderColumns, updatePool } from '../handlers/pool-settings.ts';
import { addressOrNull } from '../handlers/providers.ts';

ponder.on('PoolFactory:PoolCreated', async ({ event, context }) => {
  const place = placeOf(event, context);
  const layout = eventLayoutOf(place.chainId, event.log.address);
  const multicall3 = multicallOf(place.chainId);
  await recordPoolCreation(context, place, layout.poolCreated(event.args), {
    sender: event.transaction.from,
    layout,
    multicall3,
  });
});

ponder.on('PoolFactory:PoolAdminSpreadFeeUpdated', ({ event, context }) =>
  updatePool(context, placeOf(event, context), event.args.pool, { adminSpreadFeeE6: event.args.newAdminSpreadFeeE6 }),
);

ponder.on('PoolFactory:PoolAdminNotionalFeeUpdated', ({ event, context }) =>
  updatePool(context, placeOf(event, context), event.args.pool, {
    adminNotionalFeeE8: event.args.newAdminNotionalFeeE8,
  }),
);

ponder.on('PoolFactory:PoolProtocolSpreadFeeUpdated', ({ event, context }) =>
  updatePool(context, placeOf(event, context), event.args.pool, {
    protocolSpreadFeeE6: event.args.newProtocolSpreadFeeE6,
  }),
);

ponder.on('PoolFactory:PoolProtocolNotionalFeeUpdated', ({ event, context }) =>
  updatePool(context, placeOf(event, context), event.args.pool, {
    protocolNotionalFeeE8: event.args.newProtocolNotionalFeeE8,
  }),
);

ponder.on('PoolFactory:PoolAdminFeeDestinationUpdated', ({ event, context }) =>
  updatePool(context, placeOf(event, context), event.args.pool, {
    adminFeeDestination: event.args.newAdminFeeDestination,
  }),
);

ponder.on('PoolFactory:PoolAdminTransferProposed', ({ event, context }) =>
  updatePool(context, placeOf(event, context), event.args.pool, { pendingAdmin: addressOrNull(event.args.newAdmin) }),
);

ponder.on('PoolFactory:PoolAdminTransferCancelled', ({ event, context }) =>
  updatePool(context, placeOf(event, context), event.args.pool, { pendingAdmin: null }),
);

ponder.on('PoolFactory:PoolAdminTransferred', ({ event, context }) =>
  updatePool(context, placeOf(event, context), event.args.pool, { admin: event.args.newAdmin, pendingAdmin: null }),
);

ponder.on('PoolFactory:PoolPriceProviderChangeProposed', ({ event, context }) => {
  const { pool, newPriceProvider, executeAfter } = event.args;
  const place = placeOf(event, context);
  const proposal = { priceProvider: newPriceProvider, executeAfter, block: place.blockNumber };
  return updatePool(context, place, pool, pendingProviderColumns(proposal));
});

// The provider itself is set by the pool's own PriceProviderUpdated.
ponder.on('PoolFactory:PoolPriceProviderUpdated', ({ event, context }) =>
  updatePool(context, placeOf(event, context), event.args.pool, pendingProviderColumns(null)),
);

ponder.on('PoolFactory:SpreadProtocolFeeDefaultUpdated', ({ event, context }) =>
  updateFactory(context, placeOf(event, context), event.log.address, {
    defaultProtocolSpreadFeeE6: event.args.newFeeE6,
  }),
);

ponder.on('PoolFactory:ProtocolNotionalFeeDefaultUpdated', ({ event, context }) =>
  updateFactory(context, placeOf(event, context), event.log.address, {
    defaultProtocolNotionalFeeE8: event.args.newFeeE8,
  }),
);

ponder.on('PoolFactory:FeeCapsUpdated', ({ event, context }) =>
  updateFactory(context, placeOf(event, context), event.log.address, event.args),
);

ponder.on('PoolFactory:PoolDeployerSet', ({ event, context }) =>
  updateFactory(context, placeOf(event, context), event.log.address, { poolDeployer: event.args.poolDeployer }),
);

ponder.on('PoolFactory:TokensCollected', ({ event, context }) =>
  recordFactoryCollection(context, placeOf(event, context), event.log.address, event.args),
);

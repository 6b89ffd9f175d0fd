import { type Event, type EventNames, ponder } from 'ponder:registry';
import { zeroAddress } from 'viem';
import { normalisePoolCreated } from '../../protocol/layouts/common-events.ts';
import { eventLayoutOf } from '../chains.ts';
import { placeOf } from '../handlers/context.ts';
import { recordPoolCreation } from '../handlers/pool-creation.ts';
import { updatePool } from '../handlers/pool-settings.ts';
import { addressOrNull, changeSettings } from '../handlers/settings.ts';
import { factory, factoryCollection } from '../schema/factories.ts';
import type { PoolRow } from '../schema/pools.ts';

/** Functions that return the columns that an event of a factory changes, by the name of the event. */
type ChangesByEvent<Row> = {
  readonly [Source in Extract<EventNames, `PoolFactory:${string}`> as Source extends `PoolFactory:${infer Name}`
    ? Name
    : never]?: (args: Event<Source>['args'], blockNumber: number) => Partial<Row>;
};

const NO_PROPOSAL = {
  pendingPriceProvider: null,
  pendingPriceProviderBlock: null,
  pendingPriceProviderExecuteAfter: null,
};

const poolChanges: ChangesByEvent<PoolRow> = {
  PoolAdminSpreadFeeUpdated: (args) => ({ adminSpreadFeeE6: args.newAdminSpreadFeeE6 }),
  PoolAdminNotionalFeeUpdated: (args) => ({ adminNotionalFeeE8: args.newAdminNotionalFeeE8 }),
  PoolProtocolSpreadFeeUpdated: (args) => ({ protocolSpreadFeeE6: args.newProtocolSpreadFeeE6 }),
  PoolProtocolNotionalFeeUpdated: (args) => ({ protocolNotionalFeeE8: args.newProtocolNotionalFeeE8 }),
  PoolAdminFeeDestinationUpdated: (args) => ({ adminFeeDestination: args.newAdminFeeDestination }),
  PoolAdminTransferProposed: (args) => ({ pendingAdmin: addressOrNull(args.newAdmin) }),
  PoolAdminTransferCancelled: () => ({ pendingAdmin: null }),
  PoolAdminTransferred: (args) => ({ admin: args.newAdmin, pendingAdmin: null }),
  PoolPriceProviderChangeProposed: ({ newPriceProvider, executeAfter }, blockNumber) => {
    if (newPriceProvider === zeroAddress) return NO_PROPOSAL;
    return {
      pendingPriceProvider: newPriceProvider,
      pendingPriceProviderBlock: blockNumber,
      pendingPriceProviderExecuteAfter: executeAfter,
    };
  },
  // The pool's own event PriceProviderUpdated sets the provider itself.
  PoolPriceProviderUpdated: () => NO_PROPOSAL,
};

const factoryChanges: ChangesByEvent<typeof factory.$inferInsert> = {
  SpreadProtocolFeeDefaultUpdated: (args) => ({ defaultProtocolSpreadFeeE6: args.newFeeE6 }),
  ProtocolNotionalFeeDefaultUpdated: (args) => ({ defaultProtocolNotionalFeeE8: args.newFeeE8 }),
  FeeCapsUpdated: (args) => args,
  PoolDeployerSet: ({ poolDeployer }) => ({ poolDeployer }),
  MaxBidAskRefAsymmetryUpdated: (args) => ({ maxBidAskRefAsymmetryX8: args.newMaxX8 }),
  BinDistanceLimitsUpdated: (args) => ({
    minBinDistanceE6: args.newMinBinDistanceE6,
    maxBinDistanceE6: args.newMaxBinDistanceE6,
  }),
  FeeReceiverUpdated: (args) => ({ feeReceiver: args.newReceiver }),
};

ponder.on('PoolFactory:PoolCreated', ({ event, context }) => {
  const place = placeOf(event, context);
  const layout = eventLayoutOf(place.chainId, event.log.address);
  return recordPoolCreation(context, place, normalisePoolCreated(event.args), {
    sender: event.transaction.from,
    layout,
  });
});

for (const [name, change] of Object.entries(poolChanges)) {
  // The cast to one event name stands for all of them: each function gets the arguments of its own event.
  ponder.on(`PoolFactory:${name}` as 'PoolFactory:PoolAdminTransferCancelled', ({ event, context }) => {
    const place = placeOf(event, context);
    return updatePool(context, place, event.args.pool, () => change(event.args as never, place.blockNumber));
  });
}

for (const [name, change] of Object.entries(factoryChanges)) {
  ponder.on(`PoolFactory:${name}` as 'PoolFactory:PoolDeployerSet', ({ event, context }) => {
    const changes = change(event.args as never, Number(event.block.number));
    return changeSettings({ event, context }, factory, { address: event.log.address }, changes);
  });
}

ponder.on('PoolFactory:TokensCollected', async ({ event, context }) => {
  const { token, to: recipient, amount: amountRaw } = event.args;
  const row = { factory: event.log.address, token, recipient, amountRaw, ...placeOf(event, context) };
  await context.db.insert(factoryCollection).values(row);
});

import { ponder } from 'ponder:registry';
import type { Address } from 'viem';
import { readConfidenceParam } from '../handlers/chain-reads.ts';
import { type HandlerContext, placeOf, stampOf } from '../handlers/context.ts';
import { addressOrNull, changeSettings } from '../handlers/settings.ts';
import { priceProvider, priceProviderSetting } from '../schema/providers.ts';

type Deployed = Parameters<typeof placeOf>[0] & { readonly log: { readonly address: Address } };
/** What a factory reports about a provider that it deployed. */
type Deployment = Omit<typeof priceProvider.$inferInsert, 'chainId' | 'factory' | 'blockNumber' | 'blockTimestamp'>;

// A provider may log settings in its constructor, before its factory announces it. So settings have their own table.

async function recordProvider(context: HandlerContext, event: Deployed, deployment: Deployment): Promise<void> {
  const place = placeOf(event, context);
  const { address } = deployment;
  const confidenceParam = await readConfidenceParam(context, address);
  if (confidenceParam !== null) {
    await changeSettings({ event, context }, priceProviderSetting, { address }, { confidenceParam });
  }
  const row = { chainId: place.chainId, factory: event.log.address, ...deployment, ...stampOf(place) };
  await context.db.insert(priceProvider).values(row);
}

ponder.on('AnchoredProviderFactory:ProviderDeployed', ({ event, context }) => {
  const { provider: address, maxRefStaleness: maxRefStalenessSecs, ...rest } = event.args;
  return recordProvider(context, event, { ...rest, address, kind: 'anchored', maxRefStalenessSecs });
});

ponder.on('AnchoredProviderFactory:SourceSet', ({ event, context }) => {
  const changes = { source: addressOrNull(event.args.source) };
  const key = { address: event.args.provider };
  return changeSettings({ event, context }, priceProviderSetting, key, changes);
});

ponder.on('RegularProviderFactory:ProviderDeployed', ({ event, context }) => {
  const { provider: address, feedId: baseFeedId, maxTimeDelta: maxTimeDeltaSecs, ...rest } = event.args;
  return recordProvider(context, event, { ...rest, address, kind: 'regular', baseFeedId, maxTimeDeltaSecs });
});

ponder.on('RegularL2ProviderFactory:ProviderDeployed', ({ event, context }) => {
  const { provider: address, feedId: baseFeedId, maxTimeDelta, futureTolerance, ...rest } = event.args;
  const times = { maxTimeDeltaSecs: maxTimeDelta, futureToleranceSecs: futureTolerance };
  return recordProvider(context, event, { ...rest, ...times, address, kind: 'regular_l2', baseFeedId });
});

for (const source of ['AnchoredProvider', 'RegularProvider', 'RegularL2Provider'] as const) {
  ponder.on(`${source}:ConfidenceParamSet`, ({ event, context }) => {
    const key = { address: event.log.address };
    const changes = { confidenceParam: event.args.newValue };
    return changeSettings({ event, context }, priceProviderSetting, key, changes);
  });
}

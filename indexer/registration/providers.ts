import { ponder } from 'ponder:registry';
import type { Address } from 'viem';
import { multicallOf } from '../chains.ts';
import { type HandlerContext, placeOf } from '../handlers/context.ts';
import {
  addressOrNull,
  type ProviderDeployment,
  recordProvider,
  updateProviderSetting,
} from '../handlers/providers.ts';

type Deployed = Parameters<typeof placeOf>[0] & { readonly log: { readonly address: Address } };

function deployed(context: HandlerContext, event: Deployed, deployment: ProviderDeployment): Promise<void> {
  const place = placeOf(event, context);
  return recordProvider(context, place, event.log.address, deployment, multicallOf(place.chainId));
}

ponder.on('AnchoredProviderFactory:ProviderDeployed', ({ event, context }) => {
  const { args } = event;
  const deployment = {
    address: args.provider,
    kind: 'anchored',
    creator: args.creator,
    oracle: args.oracle,
    base: args.base,
    quote: args.quote,
    marginStep: args.marginStep,
    baseFeedId: args.baseFeedId,
    quoteFeedId: args.quoteFeedId,
    classId: args.classId,
    minMargin: args.minMargin,
    maxRefStalenessSecs: args.maxRefStaleness,
    maxSpreadBps: args.maxSpreadBps,
    mutableParams: args.mutableParams,
  };
  return deployed(context, event, deployment);
});

ponder.on('AnchoredProviderFactory:SourceSet', ({ event, context }) =>
  updateProviderSetting(context, placeOf(event, context), event.args.provider, {
    source: addressOrNull(event.args.source),
  }),
);

ponder.on('RegularProviderFactory:ProviderDeployed', ({ event, context }) => {
  const { provider: address, feedId: baseFeedId, maxTimeDelta: maxTimeDeltaSecs, ...rest } = event.args;
  const deployment = { ...rest, address, kind: 'regular', baseFeedId, maxTimeDeltaSecs };
  return deployed(context, event, deployment);
});

ponder.on('RegularL2ProviderFactory:ProviderDeployed', ({ event, context }) => {
  const { provider: address, feedId: baseFeedId, maxTimeDelta, futureTolerance, ...rest } = event.args;
  const times = { maxTimeDeltaSecs: maxTimeDelta, futureToleranceSecs: futureTolerance };
  return deployed(context, event, { ...rest, ...times, address, kind: 'regular_l2', baseFeedId });
});

ponder.on('AnchoredProvider:ConfidenceParamSet', ({ event, context }) =>
  updateProviderSetting(context, placeOf(event, context), event.log.address, { confidenceParam: event.args.newValue }),
);

ponder.on('RegularProvider:ConfidenceParamSet', ({ event, context }) =>
  updateProviderSetting(context, placeOf(event, context), event.log.address, { confidenceParam: event.args.newValue }),
);

ponder.on('RegularL2Provider:ConfidenceParamSet', ({ event, context }) =>
  updateProviderSetting(context, placeOf(event, context), event.log.address, { confidenceParam: event.args.newValue }),
);

import { ponder } from 'ponder:registry';
import { placeOf } from '../handlers/context.ts';
import { addressOrNull, recordProvider, updateProviderSetting } from '../handlers/providers.ts';

ponder.on('AnchoredProviderFactory:ProviderDeployed', ({ event, context }) => {
  const { args } = event;
  return recordProvider(context, placeOf(event, context), event.log.address, {
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
  });
});

ponder.on('AnchoredProviderFactory:SourceSet', ({ event, context }) =>
  updateProviderSetting(context, placeOf(event, context), event.args.provider, {
    source: addressOrNull(event.args.source),
  }),
);

ponder.on('RegularProviderFactory:ProviderDeployed', ({ event, context }) => {
  const { provider: address, feedId: baseFeedId, maxTimeDelta: maxTimeDeltaSecs, ...rest } = event.args;
  const deployment = { ...rest, address, kind: 'regular', baseFeedId, maxTimeDeltaSecs };
  return recordProvider(context, placeOf(event, context), event.log.address, deployment);
});

ponder.on('RegularL2ProviderFactory:ProviderDeployed', ({ event, context }) => {
  const { provider: address, feedId: baseFeedId, maxTimeDelta, futureTolerance, ...rest } = event.args;
  return recordProvider(context, placeOf(event, context), event.log.address, {
    ...rest,
    address,
    kind: 'regular_l2',
    baseFeedId,
    maxTimeDeltaSecs: maxTimeDelta,
    futureToleranceSecs: futureTolerance,
  });
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

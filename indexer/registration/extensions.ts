import { ponder } from 'ponder:registry';
import { placeOf } from '../handlers/context.ts';
import {
  recordWatermark,
  setAllowAll,
  setAllowed,
  updatePriceVelocity,
  updateStopLoss,
} from '../handlers/extensions.ts';

interface ExtensionEvent {
  readonly log: { readonly address: `0x${string}` };
  readonly args: { readonly pool: `0x${string}` };
}

const keyOf = ({ log, args }: ExtensionEvent) => ({ address: log.address, pool: args.pool });

// A setting that takes effect ends the proposal of it.

ponder.on('StopLoss:OracleStopLossDrawdownSet', ({ event, context }) =>
  updateStopLoss(context, placeOf(event, context), keyOf(event), {
    drawdownE6: event.args.newMaxDrawdownE6,
    pendingDrawdownE6: null,
    pendingDrawdownExecuteAfter: null,
  }),
);

ponder.on('StopLoss:OracleStopLossDecaySet', ({ event, context }) =>
  updateStopLoss(context, placeOf(event, context), keyOf(event), {
    decayPerSecondE8: event.args.newDecayPerSecond,
    pendingDecayPerSecondE8: null,
    pendingDecayExecuteAfter: null,
  }),
);

ponder.on('StopLoss:OracleStopLossTimelockSet', ({ event, context }) =>
  updateStopLoss(context, placeOf(event, context), keyOf(event), {
    timelockSecs: event.args.newTimelock,
    pendingTimelockSecs: null,
    pendingTimelockExecuteAfter: null,
  }),
);

ponder.on('StopLoss:OracleStopLossDrawdownProposed', ({ event, context }) =>
  updateStopLoss(context, placeOf(event, context), keyOf(event), {
    pendingDrawdownE6: event.args.value,
    pendingDrawdownExecuteAfter: event.args.executeAfter,
  }),
);

ponder.on('StopLoss:OracleStopLossDecayProposed', ({ event, context }) =>
  updateStopLoss(context, placeOf(event, context), keyOf(event), {
    pendingDecayPerSecondE8: event.args.value,
    pendingDecayExecuteAfter: event.args.executeAfter,
  }),
);

ponder.on('StopLoss:OracleStopLossTimelockProposed', ({ event, context }) =>
  updateStopLoss(context, placeOf(event, context), keyOf(event), {
    pendingTimelockSecs: event.args.value,
    pendingTimelockExecuteAfter: event.args.executeAfter,
  }),
);

ponder.on('StopLoss:OracleStopLossDrawdownCancelled', ({ event, context }) =>
  updateStopLoss(context, placeOf(event, context), keyOf(event), {
    pendingDrawdownE6: null,
    pendingDrawdownExecuteAfter: null,
  }),
);

ponder.on('StopLoss:OracleStopLossDecayCancelled', ({ event, context }) =>
  updateStopLoss(context, placeOf(event, context), keyOf(event), {
    pendingDecayPerSecondE8: null,
    pendingDecayExecuteAfter: null,
  }),
);

ponder.on('StopLoss:OracleStopLossTimelockCancelled', ({ event, context }) =>
  updateStopLoss(context, placeOf(event, context), keyOf(event), {
    pendingTimelockSecs: null,
    pendingTimelockExecuteAfter: null,
  }),
);

ponder.on('StopLoss:OracleStopLossHighWatermarkUpdated', ({ event, context }) =>
  recordWatermark(context, placeOf(event, context), keyOf(event), event.args),
);

ponder.on('PriceVelocityGuard:MaxChangePerBlockSet', ({ event, context }) =>
  updatePriceVelocity(context, placeOf(event, context), keyOf(event), {
    maxChangePerBlockE18: event.args.newMaxPctChangePerBlockE18,
  }),
);

ponder.on('PriceVelocityGuard:LastMidPriceUpdated', ({ event, context }) => {
  const place = placeOf(event, context);
  return updatePriceVelocity(context, place, keyOf(event), {
    lastMidPriceX64: event.args.newLastMidPriceX64,
    lastMidPriceBlock: place.blockNumber,
  });
});

ponder.on('DepositAllowlist:AllowAllDepositorsSet', ({ event, context }) =>
  setAllowAll(context, placeOf(event, context), keyOf(event), 'deposit', event.args.allowed),
);

ponder.on('DepositAllowlist:AllowedToDepositSet', ({ event, context }) => {
  const key = { ...keyOf(event), account: event.args.depositor };
  return setAllowed(context, placeOf(event, context), key, 'deposit', event.args.allowed);
});

ponder.on('SwapAllowlist:AllowAllSwappersSet', ({ event, context }) =>
  setAllowAll(context, placeOf(event, context), keyOf(event), 'swap', event.args.allowed),
);

ponder.on('SwapAllowlist:AllowedToSwapSet', ({ event, context }) => {
  const key = { ...keyOf(event), account: event.args.swapper };
  return setAllowed(context, placeOf(event, context), key, 'swap', event.args.allowed);
});

import { ponder } from 'ponder:registry';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';
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

for (const { sources, stopLossDecay } of Object.values(eventLayouts)) {
  const source = sources.stopLoss;
  const [decay, pendingDecay] =
    stopLossDecay === 'E8'
      ? (['decayPerSecondE8', 'pendingDecayPerSecondE8'] as const)
      : (['decayPerSecondE18', 'pendingDecayPerSecondE18'] as const);

  ponder.on(`${source}:OracleStopLossDrawdownSet`, ({ event, context }) =>
    updateStopLoss(context, placeOf(event, context), keyOf(event), {
      drawdownE6: event.args.newMaxDrawdownE6,
      pendingDrawdownE6: null,
      pendingDrawdownExecuteAfter: null,
    }),
  );

  ponder.on(`${source}:OracleStopLossDecaySet`, ({ event, context }) =>
    updateStopLoss(context, placeOf(event, context), keyOf(event), {
      [decay]: event.args.newDecayPerSecond,
      [pendingDecay]: null,
      pendingDecayExecuteAfter: null,
    }),
  );

  ponder.on(`${source}:OracleStopLossTimelockSet`, ({ event, context }) =>
    updateStopLoss(context, placeOf(event, context), keyOf(event), {
      timelockSecs: event.args.newTimelock,
      pendingTimelockSecs: null,
      pendingTimelockExecuteAfter: null,
    }),
  );

  ponder.on(`${source}:OracleStopLossDrawdownProposed`, ({ event, context }) =>
    updateStopLoss(context, placeOf(event, context), keyOf(event), {
      pendingDrawdownE6: event.args.value,
      pendingDrawdownExecuteAfter: event.args.executeAfter,
    }),
  );

  ponder.on(`${source}:OracleStopLossDecayProposed`, ({ event, context }) =>
    updateStopLoss(context, placeOf(event, context), keyOf(event), {
      [pendingDecay]: event.args.value,
      pendingDecayExecuteAfter: event.args.executeAfter,
    }),
  );

  ponder.on(`${source}:OracleStopLossTimelockProposed`, ({ event, context }) =>
    updateStopLoss(context, placeOf(event, context), keyOf(event), {
      pendingTimelockSecs: event.args.value,
      pendingTimelockExecuteAfter: event.args.executeAfter,
    }),
  );

  ponder.on(`${source}:OracleStopLossDrawdownCancelled`, ({ event, context }) =>
    updateStopLoss(context, placeOf(event, context), keyOf(event), {
      pendingDrawdownE6: null,
      pendingDrawdownExecuteAfter: null,
    }),
  );

  ponder.on(`${source}:OracleStopLossDecayCancelled`, ({ event, context }) =>
    updateStopLoss(context, placeOf(event, context), keyOf(event), {
      [pendingDecay]: null,
      pendingDecayExecuteAfter: null,
    }),
  );

  ponder.on(`${source}:OracleStopLossTimelockCancelled`, ({ event, context }) =>
    updateStopLoss(context, placeOf(event, context), keyOf(event), {
      pendingTimelockSecs: null,
      pendingTimelockExecuteAfter: null,
    }),
  );

  ponder.on(`${source}:OracleStopLossHighWatermarkUpdated`, ({ event, context }) =>
    recordWatermark(context, placeOf(event, context), keyOf(event), event.args),
  );

  ponder.on(`${sources.priceVelocityGuard}:MaxChangePerBlockSet`, ({ event, context }) =>
    updatePriceVelocity(context, placeOf(event, context), keyOf(event), {
      maxChangePerBlockE18: event.args.newMaxPctChangePerBlockE18,
    }),
  );
}

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

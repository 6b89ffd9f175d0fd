import { ponder } from 'ponder:registry';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';
import { changeSettings } from '../handlers/settings.ts';
import { allowlist, allowlistEntry, priceVelocity, stopLoss, stopLossWatermark } from '../schema/extensions.ts';

interface ExtensionEvent {
  readonly log: { readonly address: `0x${string}` };
  readonly args: { readonly pool: `0x${string}` };
}

/** Key of the settings of a pool at an extension contract, which serves many pools. */
const keyOf = ({ log, args }: ExtensionEvent) => ({ address: log.address, pool: args.pool });

for (const { sources, stopLossDecay, midPriceEvent } of Object.values(eventLayouts)) {
  const source = sources.stopLoss;
  const settings = {
    Drawdown: ['drawdownE6', 'pendingDrawdownE6', 'pendingDrawdownExecuteAfter'],
    Decay: [`decayPerSecond${stopLossDecay}`, `pendingDecayPerSecond${stopLossDecay}`, 'pendingDecayExecuteAfter'],
    Timelock: ['timelockSecs', 'pendingTimelockSecs', 'pendingTimelockExecuteAfter'],
  } as const;

  for (const setting of ['Drawdown', 'Decay', 'Timelock'] as const) {
    const [current, pending, executeAfter] = settings[setting];

    // When a setting takes effect, its proposal ends.
    ponder.on(`${source}:OracleStopLoss${setting}Set`, ({ event, context }) => {
      const { pool: _, ...values } = event.args;
      const [value] = Object.values(values);
      const changes = { [current]: value, [pending]: null, [executeAfter]: null };
      return changeSettings({ event, context }, stopLoss, keyOf(event), changes);
    });

    ponder.on(`${source}:OracleStopLoss${setting}Proposed`, ({ event, context }) => {
      const changes = { [pending]: event.args.value, [executeAfter]: event.args.executeAfter };
      return changeSettings({ event, context }, stopLoss, keyOf(event), changes);
    });

    ponder.on(`${source}:OracleStopLoss${setting}Cancelled`, ({ event, context }) => {
      const changes = { [pending]: null, [executeAfter]: null };
      return changeSettings({ event, context }, stopLoss, keyOf(event), changes);
    });
  }

  ponder.on(`${source}:OracleStopLossHighWatermarkUpdated`, ({ event, context }) => {
    const { binIdx, newHwmToken0: watermarkToken0, newHwmToken1: watermarkToken1 } = event.args;
    const key = { ...keyOf(event), binIdx };
    const changes = { watermarkToken0, watermarkToken1 };
    return changeSettings({ event, context }, stopLossWatermark, key, changes);
  });

  const midPriceUpdated = `${sources.priceVelocityGuard}:${midPriceEvent}` as 'PriceVelocityGuard:LastMidPriceUpdated';
  ponder.on(midPriceUpdated, ({ event, context }) => {
    const { pool: _, ...values } = event.args;
    const [lastMidPriceX64] = Object.values(values);
    const changes = { lastMidPriceX64, lastMidPriceBlock: Number(event.block.number) };
    return changeSettings({ event, context }, priceVelocity, keyOf(event), changes);
  });

  ponder.on(`${sources.priceVelocityGuard}:MaxChangePerBlockSet`, ({ event, context }) => {
    const changes = { maxChangePerBlockE18: event.args.newMaxPctChangePerBlockE18 };
    return changeSettings({ event, context }, priceVelocity, keyOf(event), changes);
  });
}

ponder.on('DepositAllowlist:AllowAllDepositorsSet', ({ event, context }) => {
  const key = { ...keyOf(event), action: 'deposit' };
  return changeSettings({ event, context }, allowlist, key, { allowAll: event.args.allowed });
});

ponder.on('DepositAllowlist:AllowedToDepositSet', ({ event, context }) => {
  const key = { ...keyOf(event), action: 'deposit', account: event.args.depositor };
  return changeSettings({ event, context }, allowlistEntry, key, { allowed: event.args.allowed });
});

ponder.on('SwapAllowlist:AllowAllSwappersSet', ({ event, context }) => {
  const key = { ...keyOf(event), action: 'swap' };
  return changeSettings({ event, context }, allowlist, key, { allowAll: event.args.allowed });
});

ponder.on('SwapAllowlist:AllowedToSwapSet', ({ event, context }) => {
  const key = { ...keyOf(event), action: 'swap', account: event.args.swapper };
  return changeSettings({ event, context }, allowlistEntry, key, { allowed: event.args.allowed });
});

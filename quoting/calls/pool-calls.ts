import { zeroAddress } from 'viem';
import type { ContractCall } from '../../chain/multicall.ts';
import type { CodeOverrides } from '../../chain/read-context.ts';
import { balanceCall } from '../../protocol/bounded-calls/balance-call.ts';
import { type BoundedCall, type CallResult, codeHashCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { CodeState } from '../../protocol/curve-search.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { StopLossState } from '../../protocol/stop-loss/stop-loss.ts';
import { guardPlan, type ServedPool, swapGuards } from '../pools/pool-directory.ts';
import { priceCall, stubs } from './probe-calls.ts';

/** Upper estimates of gas, calldata included: a cold storage read costs 2,100 and its 32 bytes of calldata 512. */
const GAS = { extsload: 10_000, perSlot: 3_000, quote: 200_000, stopLoss: 12_000, velocity: 10_000 };
/** With this much gas the stub calls the provider, however much gas earlier calls burned. */
const CERTAIN_QUOTE_GAS = 3_500_000;

/** Code to put in place of pools, so that their providers answer {@link quoteCall}. */
export const poolStubs = (pools: readonly ServedPool[]): CodeOverrides =>
  stubs(pools, ({ immutableProvider }) => immutableProvider ?? zeroAddress);

/** The call that reads the pool's storage. */
export function storageCall({ address, layout, immutables }: ServedPool): ContractCall {
  const { data, words } = layoutAdapter(layout).state.call(immutables);
  return { target: address, data, gas: GAS.extsload + words * GAS.perSlot };
}

/** The call of the stub, in place of the pool, that reads its provider's quote. */
export function quoteCall({ address, layout }: ServedPool, isCertain = false): ContractCall {
  const gas = isCertain ? CERTAIN_QUOTE_GAS : GAS.quote;
  return { target: address, data: layoutAdapter(layout).prices.providerQuoteCall, gas, isLast: true };
}

/** Whether the stub did not call the provider, because other calls had burned the gas. */
export const wasQuoteSkipped = (quote: CallResult | undefined): boolean =>
  quote?.success === true && quote.data === '0x';

/** Accounts of a {@link CodeState}. */
export type Watched = CodeState['accounts'];

/** How many of {@link priceCalls} read the pool itself and its tokens. */
export const PRICE_CALLS = 5;

/**
 * Calls that read the pool's prices, its balances of both tokens, and the code of both tokens.
 *
 * @param watched accounts whose code must stay the same for a formula to count
 */
export function priceCalls(pool: ServedPool, watched: Watched = []): BoundedCall[] {
  const { address, token0, token1 } = pool;
  return [
    priceCall(pool),
    balanceCall(token0.address, address),
    balanceCall(token1.address, address),
    codeHashCall(token0.address),
    codeHashCall(token1.address),
    ...watched.map(codeHashCall),
  ];
}

/** Calls that read the state of the pool's stop loss; none for a pool without one. */
export function stopLossCalls(pool: ServedPool): ContractCall[] {
  const plan = guardPlan(pool);
  if (plan.kind !== 'evaluated' || !plan.stopLoss) return [];
  const calls = layoutAdapter(pool.layout).stopLoss.calls(plan.stopLoss.address, pool.address, pool.immutables);
  return calls.map((call) => ({ ...call, gas: GAS.stopLoss + Math.floor(call.data.length / 64) * GAS.perSlot }));
}

/** Calls that read the state of the velocity guards; undefined unless all that guards do follows from their state. */
export function velocityCalls(pool: ServedPool): ContractCall[] | undefined {
  if (guardPlan(pool).kind !== 'evaluated') return undefined;
  const guards = swapGuards(pool).filter(({ kind }) => kind === 'priceVelocityGuard');
  const data = layoutAdapter(pool.layout).guardSettings.priceVelocityGuard.call(pool.address);
  return guards.map(({ address }) => ({ target: address, data, gas: GAS.velocity }));
}

/** @returns null when the extension does not answer as a stop loss does */
export function decodeStopLoss(
  { layout, immutables }: ServedPool,
  answers: readonly CallResult[],
  timestamp: bigint,
): StopLossState | null {
  if (answers.some(({ success }) => !success)) return null;
  const data = answers.map((answer) => answer.data);
  try {
    return layoutAdapter(layout).stopLoss.decode(data, immutables, timestamp);
  } catch {
    // The contract is not a stop loss: the caller probes it like an unknown extension.
    return null;
  }
}

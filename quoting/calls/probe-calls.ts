import type { Address } from 'viem';
import type { CodeOverrides } from '../../chain/read-context.ts';
import { type BoundedCall, CALLER, type CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';

/** A pool as the calls that probe it know it. */
export interface ProbedPool {
  readonly address: Address;
  /** Name of its layout. */
  readonly layout: string;
}

/** Bounds of the calls that quotes and scheduled reads have in common. */
const BOUNDS = {
  /**
   * Also runs the pool's provider and oracle, which may be untrusted. Keeps two prices, or the selector of an error.
   */
  prices: { likelyGas: 250_000, gasLimit: 3_000_000, keptBytes: 64 },
  pauseLevel: { likelyGas: 20_000, gasLimit: 50_000 },
  /** Goes through the stub, which itself holds gas back. */
  providerQuote: { likelyGas: 200_000, gasLimit: 5_800_000, keptBytes: 96 },
  /** A swap of one unit. Its layout bounds it for known guards. */
  unitSwap: { likelyGas: 240_000, unknownGasLimit: 3_260_000, keptBytes: 4 },
  /** A swap over any number of bins. */
  fill: { likelyGas: 600_000, gasLimit: 8_000_000, keptBytes: 68 },
};

/** The call that reads the pool's prices. */
export const priceCall = ({ address, layout }: ProbedPool): BoundedCall => ({
  target: address,
  data: layoutAdapter(layout).prices.call,
  ...BOUNDS.prices,
});

/** The call that reads how far the pool is paused, for reads without its storage. */
export function pauseLevelCall({ address, layout }: ProbedPool): BoundedCall {
  const { data, answerBytes } = layoutAdapter(layout).state.pauseLevelCall;
  return { target: address, data, keptBytes: answerBytes, ...BOUNDS.pauseLevel };
}

/**
 * Code to put in place of pools, so that their providers answer {@link providerQuoteCall}.
 *
 * @param providerOf gives the provider of a pool whose storage may hold none
 */
export const stubs = <P extends ProbedPool>(pools: readonly P[], providerOf: (pool: P) => Address): CodeOverrides =>
  new Map(pools.map((pool) => [pool.address, layoutAdapter(pool.layout).prices.providerStubCode(providerOf(pool))]));

/** The call of the stub, in place of the pool, that reads its provider's quote. */
export const providerQuoteCall = ({ address, layout }: ProbedPool): BoundedCall => ({
  target: address,
  data: layoutAdapter(layout).prices.providerQuoteCall,
  ...BOUNDS.providerQuote,
});

/**
 * The swaps of one unit that show which sides guards reject: those of the bids, then as many of the asks.
 *
 * @param quote result of {@link providerQuoteCall}
 * @param isKnown whether all guards are those of the pool's deployment: others may take more gas
 * @returns none when it is not a quote
 */
export function unitSwapCalls(
  { address, layout }: ProbedPool,
  quote: CallResult | undefined,
  isKnown: boolean,
): BoundedCall[] {
  const { calls, gasLimit } = layoutAdapter(layout).unitSwaps;
  const swaps = quote?.success ? calls(quote, CALLER) : null;
  if (!swaps) return [];
  const { likelyGas, unknownGasLimit, keptBytes } = BOUNDS.unitSwap;
  const bounds = { likelyGas, gasLimit: isKnown ? gasLimit : Math.max(gasLimit, unknownGasLimit), keptBytes };
  return [...swaps.bids, ...swaps.asks].map((data) => ({ target: address, data, ...bounds }));
}

/**
 * The swap of an exact input, raw units, in every form that the pool may know.
 *
 * @param quote result of {@link providerQuoteCall}
 * @returns none when it is not a quote
 */
export function fillCalls(
  { address, layout }: ProbedPool,
  quote: CallResult,
  swap: { readonly zeroForOne: boolean; readonly input: bigint },
): BoundedCall[] {
  const calls = layoutAdapter(layout).fills.calls(quote, CALLER, swap.zeroForOne, swap.input) ?? [];
  return calls.map((data) => ({ target: address, data, ...BOUNDS.fill }));
}

/**
 * The rule of live prices: a pool has one where the overrides of sources change what it is priced by.
 *
 * @param live result in the block that is being built
 * @param committed result of the same call without the overrides; undefined when it was not read
 */
export const isPricedByOverrides = (live: CallResult | undefined, committed: CallResult | undefined): boolean =>
  live?.success === true && committed !== undefined && (!committed.success || committed.data !== live.data);

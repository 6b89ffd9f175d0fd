import type { Address, Hex } from 'viem';
import type { Depth, Sides } from './depth.ts';
import type { SellAndBuyPrices } from './geometry.ts';
import type { StopLossState } from './guards/stop-loss.ts';
import type { BinState, Cursor, PoolImmutables, PoolState, ProviderQuote } from './pool-state.ts';

/**
 * Pools of one kind come in generations that pack events and storage differently. All that differs lies behind a
 * `LayoutAdapter`; the rest of the system sees normalised events, `PoolState`, `ProviderQuote` and `Depth`. No duty does
 * I/O: those that need the chain give calldata and decode what came back.
 */
export interface LayoutAdapter {
  /** The name by which a deployment of the chains file asks for this layout. */
  readonly layout: string;
  readonly storage: StorageDuty;
  readonly quote: QuoteDuty;
  readonly curve: CurveDuty;
  readonly stopLoss: StopLossDuty;
}

/** Balances of all bins together, scaled. */
export interface BinTotals {
  readonly token0Scaled: bigint;
  readonly token1Scaled: bigint;
}

/** Notional fees accrued and not collected, scaled. */
export interface NotionalFees {
  readonly token0Scaled: bigint;
  readonly token1Scaled: bigint;
}

/** What a pool's fixed slots say. */
export interface PoolHead {
  readonly pauseLevel: number;
  readonly cursor: Cursor;
  readonly spreadFeeE6: number;
  readonly notionalFeeE8: number;
  readonly binTotals: BinTotals;
  readonly notionalFees: NotionalFees;
  /** The replaceable price provider; null when the provider is an immutable of the pool. */
  readonly mutablePriceProvider: Address | null;
}

export interface StorageDuty {
  /** Slots of `PoolHead`, in the order `decodeHead` takes their words. */
  readonly headSlots: readonly Hex[];
  decodeHead(words: readonly Hex[]): PoolHead;
  /** Slot of a bin's balances and shape. */
  binSlot(bin: number): Hex;
  decodeBin(word: Hex): BinState;
  /** Slot of a bin's total shares: a plain uint256. */
  binSharesSlot(bin: number): Hex;
  /** Calldata of `extsload(bytes32[])`. */
  encodeExtsload(slots: readonly Hex[]): Hex;
  decodeExtsload(result: Hex): readonly Hex[];
  /** Slots of everything `decodeState` needs: head, then every bin from lowest to highest. */
  stateSlots(immutables: PoolImmutables): readonly Hex[];
  decodeState(
    immutables: PoolImmutables,
    words: readonly Hex[],
  ): { readonly head: PoolHead; readonly state: PoolState };
}

/**
 * Two ways to a provider's quote, both through the pool, because production oracles answer only a provider which was
 * called by a pool in the middle of a swap.
 */
export interface QuoteDuty {
  /** Calldata for the pool: works on every node, gives prices with fees. */
  readonly sellAndBuyPricesCall: Hex;
  decodeSellAndBuyPrices(result: Hex): SellAndBuyPrices;
  /** Inverts prices with fees into a quote which yields them again, as exactly as the roundings allow. */
  invertPrices(state: PoolState, prices: SellAndBuyPrices): ProviderQuote | null;
  /**
   * Code to put at the pool's address by a state override: it answers `inSwap()` with the provider, `extsload` as the
   * pool would, and any other call with the provider's quote. It reverts when the provider gives none, and answers with
   * nothing when the gas left is less than a provider may take. The provider is read from the pool's storage;
   * `immutableProvider` serves pools whose storage holds none.
   */
  providerStubCode(immutableProvider: Address): Hex;
  /** Calldata for the pool under the stub code. */
  readonly providerQuoteCall: Hex;
  decodeProviderQuote(result: Hex): ProviderQuote;
}

/** How the stop loss of a pool is read at one block. */
export interface StopLossDuty {
  /** Calls of contracts that are known: the extension and the pool. */
  calls(
    extension: Address,
    pool: Address,
    immutables: PoolImmutables,
  ): readonly { readonly target: Address; readonly data: Hex }[];
  /**
   * @param answers return data of the calls, in order
   * @param timestamp of the block, Unix seconds
   * @throws Error when they are no answers of a stop loss
   */
  decode(answers: readonly Hex[], immutables: PoolImmutables, timestamp: bigint): StopLossState;
}

/** One simulated swap: positive amount = exact input, negative = exact output, raw units. */
export interface SwapProbe {
  readonly zeroForOne: boolean;
  readonly amountSpecified: bigint;
}

/** Amounts of a simulated swap, raw units, positive into the pool. */
export interface SwapDeltas {
  readonly amount0Delta: bigint;
  readonly amount1Delta: bigint;
}

interface SimulationDuty {
  /** Calldata of a simulated swap at the quote. The call always reverts: with the deltas when the swap goes through, or with an error. */
  encodeSimulation(probe: SwapProbe, quote: ProviderQuote, recipient: Address): Hex;
}

/** The curve of a layout whose arithmetic is known. */
export interface ComputedCurve extends SimulationDuty {
  readonly kind: 'computed';
  /** What `getSellAndBuyPrices` answers at this quote, to the last digit. */
  prices(state: PoolState, quote: ProviderQuote): SellAndBuyPrices;
  /** Both sides, walked once: levels, and the level of any stop inside a bin. */
  sides(state: PoolState, quote: ProviderQuote): Sides;
}

/** The curve of a layout whose arithmetic is not public: exact outputs at bin edges are simulated on the chain. */
export interface SimulatedCurve extends SimulationDuty {
  readonly kind: 'simulated';
  /** Simulations whose results `depth` needs, in order. */
  probes(state: PoolState): readonly SwapProbe[];
  depth(state: PoolState, prices: SellAndBuyPrices, results: readonly (SwapDeltas | null)[]): Depth;
}

export type CurveDuty = ComputedCurve | SimulatedCurve;

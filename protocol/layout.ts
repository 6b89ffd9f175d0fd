import type { AbiEvent, Address, Hex } from 'viem';
import type { CallResult } from './bounded-calls/bounded-calls.ts';
import type { BidAsk, PoolCurve, SellAndBuyPrices } from './curve.ts';
import type { CodeState, CurveKnowledge, CurveSearch } from './curve-search.ts';
import type { PoolEvent } from './pool-events.ts';
import type { BinRange, PoolImmutables, StoredPool } from './pool-state.ts';
import type { PriceFailure } from './quote-status.ts';
import type { StopLossMark, StopLossState } from './stop-loss/stop-loss.ts';
import type { StoredLayout } from './stored-layout.ts';

/**
 * How pools of one generation are read. Generations pack storage and price swaps differently: their storage words,
 * quotes and formulas never leave their adapter. Nothing here does I/O: methods that need the chain return calldata and
 * decode the response.
 */
export interface LayoutAdapter {
  /** The name of this layout in the chains file. */
  readonly layout: string;
  readonly prices: PriceReader;
  readonly state: StateReader;
  readonly stopLoss: StopLossReader;
  /** What pools of this layout have set at guards. */
  readonly guardSettings: Readonly<Record<GuardRole, GuardSettingsReader>>;
  readonly unitSwaps: UnitSwapProbe;
  readonly fills: FillProbe;
  readonly storage: StorageReader;
  /** What capture reads from pools of this layout; null where their events report everything. */
  readonly stored: StoredLayout | null;
}

/**
 * What the indexer needs of a layout. It is separate from `LayoutAdapter`, so that a change in how pools are priced
 * does not require a new index.
 */
export interface EventLayout {
  /**
   * Events of a pool, of the extensions that differ between layouts, and those that only factories of this layout emit.
   */
  readonly abi: Readonly<Record<'factory' | LayoutSource, readonly AbiEvent[]>>;
  /** Names under which the index follows these contracts. */
  readonly sources: Readonly<Record<LayoutSource, string>>;
  /** The unit of a stop loss's decay per second. */
  readonly stopLossDecay: 'E8' | 'E18';
  /** The event by which a price velocity guard reports the mid price of a pool, its only argument besides the pool. */
  readonly midPriceEvent: string;
  /**
   * Whether a swap's events report the cursor, fees and balances of bins. Where they do not, the index has null for
   * these, and keeps the words that hold them undecoded.
   */
  readonly logsSwapState: boolean;
  /**
   * Whether contracts around a factory that the chains file does not name are looked for,
   * unless the file says otherwise.
   */
  readonly discovers: boolean;
  /** Normalises the arguments of a pool's events, by name; the index follows these events. */
  readonly poolEvents: Readonly<Record<string, (args: never) => PoolEvent>>;
}

type LayoutSource = 'pool' | 'stopLoss' | 'priceVelocityGuard';

/**
 * Reads a pool's prices, and the provider's quote behind them. Both go through the pool: production oracles answer a
 * provider only if a pool called it in the middle of a swap.
 */
export interface PriceReader {
  /** Calldata that asks the pool for its prices with fees; works on every node. */
  readonly call: Hex;
  /** Reads the result of the call; its first 64 bytes are enough. */
  decode(result: CallResult): SellAndBuyPrices | PriceFailure;
  /**
   * Makes code to put at the pool's address by a state override. It answers `inSwap()` with the provider, `extsload` as
   * the pool would, and any other call with the provider's quote. It reverts when the provider gives no quote, and
   * returns no data when less gas is left than a provider may take. The provider is read from the pool's storage;
   * `immutableProvider` is for pools whose storage holds no provider.
   */
  providerStubCode(immutableProvider: Address): Hex;
  /** Calldata for the pool under the stub code; {@link PoolAtBlock.curve} takes its result. */
  readonly providerQuoteCall: Hex;
  /** Bid and ask of that result, Q64.64; undefined when it is not a quote. */
  decodeQuote(result: CallResult): BidAsk | undefined;
}

/** Reads all of a pool's storage but the shares of positions. */
export interface StorageReader {
  /** Calldata for the pool, and the number of storage words that it reads. */
  call(bins: BinRange): { readonly data: Hex; readonly words: number };
  /**
   * @returns null when the result is not an answer to the call
   * @throws RangeError when the result is not a list of words
   */
  decode(bins: BinRange, result: CallResult): StoredPool | null;
}

export interface StateReader {
  /** Calldata for the pool that asks for its pause level alone, and the length of the answer in bytes. */
  readonly pauseLevelCall: { readonly data: Hex; readonly answerBytes: number };
  /** @returns 0 for an active pool; null when the result is not an answer */
  decodePauseLevel(result: CallResult): number | null;
  /** Calldata for the pool that asks for all of its state, and the number of storage words that it reads. */
  call(immutables: PoolImmutables): { readonly data: Hex; readonly words: number };
  /** @throws Error when this does not answer the call */
  decode(immutables: PoolImmutables, answer: Hex): PoolAtBlock;
}

/** The state of a pool at one block. */
export interface PoolAtBlock {
  /** 0 is active; any other value blocks swaps. */
  readonly pauseLevel: number;
  /** What the bins hold of token0 and token1, raw units, rounded down. */
  heldRaw(): readonly [bigint, bigint];
  /**
   * Finds the curve whose prices at the cursor are exactly these.
   *
   * @param quote result of `providerQuoteCall`, if the node could run it; a layout may derive a quote from the prices
   * @param code of the pool and its provider, where an earlier search said that it counts
   * @returns null when no quote explains the prices; a search where only the chain knows the curve
   */
  curve(
    prices: SellAndBuyPrices,
    quote: CallResult | undefined,
    code: CodeState | undefined,
  ): LazyCurve | CurveSearch | null;
  /**
   * The curve by the quote alone, before the prices are read: {@link curve} may find another one.
   *
   * @param known what searches found out about the pool before
   * @returns null for a paused pool, and where the quote or the formulas do not give one
   */
  expectedCurve(quote: CallResult | undefined, known: CurveKnowledge | undefined): PoolCurve | null;
}

/** Walks the bins when it is first called. */
export type LazyCurve = () => PoolCurve;

/** How the stop loss of a pool is read at one block. */
export interface StopLossReader {
  /** How the public release of the extension values bins; null where no source is public. */
  readonly mark: StopLossMark | null;
  /** Calls to known contracts: the extension and the pool. */
  calls(
    extension: Address,
    pool: Address,
    immutables: PoolImmutables,
  ): readonly { readonly target: Address; readonly data: Hex }[];
  /**
   * @param answers return data of the calls, in order
   * @param timestamp of the block, Unix seconds
   * @throws Error when these are not answers of a stop loss
   */
  decode(answers: readonly Hex[], immutables: PoolImmutables, timestamp: bigint): StopLossState;
}

/** Standard extensions that refuse swaps by settings of the pool, by their keys in the chains file. */
export type GuardRole = 'stopLoss' | 'priceVelocityGuard';

/** Reads what a pool has set at a guard, at one block. */
export interface GuardSettingsReader {
  /** Calldata for the guard. */
  call(pool: Address): Hex;
  /**
   * @returns of a stop loss: drawdown (E6), decay per second and timelock (seconds); of a velocity guard: the most
   * change per block (E18). What was never set is 0.
   * @throws RangeError when the data end before them
   */
  decode(answer: Hex): readonly bigint[];
}

/** Simulated swaps of {@link SMALLEST_SWAP}, which show whether the guards of a pool close a side. */
export interface UnitSwapProbe {
  /** Gas after which such a swap with known guards counts as refused. */
  readonly gasLimit: number;
  /** A swap in each form that pools of the layout may know, by the form's name: answers show the layout. */
  readonly signs: readonly { readonly form: string; readonly data: Hex }[];
  /**
   * Calldata for the pool: each side's exact output of one unit, in every form that a pool may know.
   *
   * @param quote result of `providerQuoteCall`
   * @returns null when it is not a quote
   */
  calls(quote: CallResult, trader: Address): { readonly bids: readonly Hex[]; readonly asks: readonly Hex[] } | null;
  /** @param results of the calls of one side; the first four bytes of each are enough */
  isRejected(results: readonly CallResult[]): boolean;
}

/** Simulated swaps of an exact input: the pool itself reports its output. */
export interface FillProbe {
  /**
   * Calldata for the pool, in every form that a pool may know.
   *
   * @param quote result of `providerQuoteCall`
   * @param input raw units
   * @returns null when it is not a quote
   */
  calls(quote: CallResult, trader: Address, zeroForOne: boolean, input: bigint): readonly Hex[] | null;
  /**
   * @param results of the calls; the first 68 bytes of each are enough
   * @returns the output in raw units; null when the pool refuses the swap, or takes another input
   */
  output(results: readonly CallResult[], zeroForOne: boolean, input: bigint): bigint | null;
}

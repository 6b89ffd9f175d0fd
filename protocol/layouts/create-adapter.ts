import { LRUCache } from 'lru-cache';
import { type Address, type Hex, size, toFunctionSelector } from 'viem';
import { wordAt } from '../abi-words.ts';
import { CALLER, type CallResult } from '../bounded-calls/bounded-calls.ts';
import { isRejection, type PoolCurve, type SellAndBuyPrices, SMALLEST_SWAP } from '../curve.ts';
import type { CodeState, CurveKnowledge, CurveSearch } from '../curve-search.ts';
import { Q64 } from '../fixed-point.ts';
import type {
  FillProbe,
  LayoutAdapter,
  LazyCurve,
  PriceReader,
  StateReader,
  StopLossReader,
  StorageReader,
  UnitSwapProbe,
} from '../layout.ts';
import { filledSwap, priceFailure, swapOutcome } from '../pool-errors.ts';
import type { PoolHead, PoolState } from '../pool-state.ts';
import { toRawFloor } from '../scaling.ts';
import type { StoredLayout } from '../stored-layout.ts';
import { decodeExtsload, encodeExtsload } from './extsload.ts';
import { guardSettingsReaders } from './guard-settings.ts';
import type { ProviderQuote } from './ladder.ts';
import { providerStub, type QuoteShape } from './provider-stub.ts';
import { allSlots, HEAD_BYTES, HEAD_DATA, HEAD_SLOTS, type PoolStorage, readHead, stateSlots } from './storage.ts';

/** What was read from a pool at one block, besides its state. */
export interface ReadPrices {
  readonly prices: SellAndBuyPrices;
  readonly quote: ProviderQuote | undefined;
  readonly code: CodeState | undefined;
}

/** A swap to simulate. */
export interface SimulationOrder {
  readonly zeroForOne: boolean;
  /** Raw units: positive = exact input, negative = exact output. */
  readonly amountSpecified: bigint;
  /** The provider's present quote: guards judge the prices that the swap shows them. */
  readonly quote: ProviderQuote;
  /** The recipient; for pools that receive the sender, also the sender. */
  readonly trader: Address;
}

/** What differs between layouts when a pool is read. */
export interface LayoutParts {
  readonly layout: string;
  readonly quote: QuoteShape & {
    /** @param data at least as many words as the quote has */
    decode(data: Hex): ProviderQuote;
  };
  readonly storage: PoolStorage;
  curve(state: PoolState, head: () => PoolHead, read: ReadPrices): LazyCurve | CurveSearch | null;
  /** The curve that a quote leads to; null where that is not known. */
  expectedCurve(state: PoolState, quote: ProviderQuote, known: CurveKnowledge | undefined): PoolCurve | null;
  readonly stopLoss: StopLossReader;
  /** The word of a velocity guard's state that has a pool's most change per block. */
  readonly velocityWord: number;
  readonly stored: StoredLayout | null;
  readonly simulation: {
    /** Names of the forms in which pools simulate swaps. In an unknown form a pool reverts without data. */
    readonly forms: readonly string[];
    /** Calldata for the pool of a simulated swap without a price limit, which always reverts. */
    encode(form: string, order: SimulationOrder): Hex;
    /** Where the amount stands in the calldata, bytes. */
    amountOffset(form: string): number;
    /** Gas after which a swap with known guards counts as refused; each bin adds to it. */
    readonly gasLimit: number;
  };
}

/** Returns two words of uint128: the prices to sell and to buy token0 at, Q64.64. */
const PRICES_CALL = toFunctionSelector('getSellAndBuyPrices()');
const WORD = 32;
/** A swap of one unit touches two bins. */
const TWO_BINS_GAS = 220_000;
/** Ranges of bins whose calldata is kept: pools share a few ranges, and the longest calldata takes 17 kB. */
const KEPT_RANGES = 256;

/** Makes the adapter of a layout from what differs between layouts. */
export function createAdapter(parts: LayoutParts): LayoutAdapter {
  const { layout, stopLoss, velocityWord, stored } = parts;
  return {
    layout,
    prices: priceReader(parts),
    state: stateReader(parts),
    stopLoss,
    guardSettings: guardSettingsReaders(velocityWord),
    unitSwaps: unitSwapProbe(parts),
    fills: fillProbe(parts),
    storage: storageReader(parts),
    stored,
  };
}

function priceReader({ quote }: LayoutParts): PriceReader {
  return {
    call: PRICES_CALL,
    decode({ success, data }) {
      if (!success) return priceFailure(data);
      // A call to an address without code succeeds with no data.
      if (size(data) < 2 * WORD) return 'unexplained';
      return { sellX64: wordAt(data, 0), buyX64: wordAt(data, 1) };
    },
    providerStubCode: providerStub(quote),
    providerQuoteCall: quote.selector,
    decodeQuote: (result) => decodeQuote(quote, result),
  };
}

/** The quote that a provider gave; undefined without a result, or when it is not a quote. */
export function decodeQuote(
  { words, decode }: LayoutParts['quote'],
  result: CallResult | undefined,
): ProviderQuote | undefined {
  return result?.success && size(result.data) >= words * WORD ? decode(result.data) : undefined;
}

function stateReader({ storage, quote, curve, expectedCurve }: LayoutParts): StateReader {
  const calls = new LRUCache<string, ReturnType<StateReader['call']>>({ max: KEPT_RANGES });
  return {
    pauseLevelCall: { data: HEAD_DATA, answerBytes: HEAD_BYTES },
    decodePauseLevel: (result) => readHead(storage, result)?.pauseLevel ?? null,
    call(immutables) {
      const range = `${immutables.lowestBin} ${immutables.highestBin}`;
      const kept = calls.get(range);
      if (kept) return kept;
      const slots = stateSlots(immutables);
      const call = { data: encodeExtsload(slots), words: slots.length };
      calls.set(range, call);
      return call;
    },
    decode(immutables, answer) {
      const words = decodeExtsload(answer);
      const state = storage.decodeState(immutables, words);
      const head = () => storage.decodeHead(words);
      return {
        pauseLevel: state.pauseLevel,
        heldRaw: () => heldRaw(state),
        curve: (prices, result, code) => curve(state, head, { prices, quote: decodeQuote(quote, result), code }),
        expectedCurve(result, known) {
          const decoded = state.pauseLevel === 0 ? decodeQuote(quote, result) : undefined;
          return decoded ? expectedCurve(state, decoded, known) : null;
        },
      };
    },
  };
}

function storageReader({ storage }: LayoutParts): StorageReader {
  return {
    call(bins) {
      const slots = allSlots(bins);
      return { data: encodeExtsload(slots), words: slots.length };
    },
    decode({ lowestBin, highestBin }, { success, data }) {
      // A call to an address without code succeeds with no data.
      if (!success || size(data) === 0) return null;
      const words = decodeExtsload(data);
      return words.length === HEAD_SLOTS.length + 2 * (highestBin - lowestBin + 1) ? storage.decodeAll(words) : null;
    },
  };
}

function heldRaw({ bins, scale }: PoolState): readonly [bigint, bigint] {
  const token0 = bins.reduce((sum, { token0Scaled }) => sum + token0Scaled, 0n);
  const token1 = bins.reduce((sum, { token1Scaled }) => sum + token1Scaled, 0n);
  return [toRawFloor(token0, scale.multiplier0), toRawFloor(token1, scale.multiplier1)];
}

function unitSwapProbe({ quote, simulation: { forms, encode, gasLimit } }: LayoutParts): UnitSwapProbe {
  const any = { bidX64: Q64, askX64: Q64, referenceX64: Q64 };
  const sign = { zeroForOne: true, amountSpecified: SMALLEST_SWAP, quote: any, trader: CALLER };
  return {
    gasLimit: gasLimit + TWO_BINS_GAS,
    signs: forms.map((form) => ({ form, data: encode(form, sign) })),
    calls(result, trader) {
      const decoded = decodeQuote(quote, result);
      if (!decoded) return null;
      const unit = (zeroForOne: boolean) =>
        forms.map((form) => encode(form, { zeroForOne, amountSpecified: SMALLEST_SWAP, quote: decoded, trader }));
      return { bids: unit(true), asks: unit(false) };
    },
    isRejected(results) {
      const outcomes = results.map(swapOutcome);
      // A pool that knows one of several forms reverts without data in the others.
      const answered = forms.length === 1 ? outcomes : outcomes.filter((outcome) => outcome !== 'silence');
      return answered.length > 0 && answered.every(isRejection);
    },
  };
}

function fillProbe({ quote, simulation: { forms, encode } }: LayoutParts): FillProbe {
  return {
    calls(result, trader, zeroForOne, input) {
      const decoded = decodeQuote(quote, result);
      if (!decoded) return null;
      return forms.map((form) => encode(form, { zeroForOne, amountSpecified: input, quote: decoded, trader }));
    },
    output(results, zeroForOne, input) {
      const fill = results.map((result) => filledSwap({ zeroForOne }, result)).find((each) => each !== null);
      return fill?.amountIn === input ? fill.amountOut : null;
    },
  };
}

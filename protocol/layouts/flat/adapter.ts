import { size, toFunctionSelector } from 'viem';
import { wordAt } from '../../abi-words.ts';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import { isRejection, SMALLEST_SWAP } from '../../curve.ts';
import type { LayoutAdapter, StateDuty, UnitSwapDuty } from '../../layout.ts';
import { decodeExtsload, encodeExtsload, stateCallOf } from '../extsload.ts';
import { swapOutcome } from '../pool-errors.ts';
import { poolPrices } from '../pool-prices.ts';
import type { ProviderQuote } from './provider-quote.ts';
import { encodeSimulation, flatCurve, UNIT_SWAP_GAS_LIMIT } from './quoted-curve.ts';
import { flatStopLoss } from './stop-loss-reading.ts';
import { decodeSlot0, FLAT_HEAD_SLOTS, flatStorage } from './storage.ts';

/** Bytes of a quote; of an array, before its elements. */
const TWO_WORDS = 64;

const flatState: StateDuty = {
  pauseLevelCall: {
    data: encodeExtsload(FLAT_HEAD_SLOTS),
    answerBytes: TWO_WORDS + FLAT_HEAD_SLOTS.length * 32,
  },
  decodePauseLevel({ success, data }) {
    if (!success || size(data) < TWO_WORDS) return null;
    const [slot0] = decodeExtsload(data);
    return slot0 === undefined ? null : decodeSlot0(slot0).pauseLevel;
  },
  call: stateCallOf(flatStorage.stateSlots),
  decode(immutables, answer) {
    const state = flatStorage.decodeState(immutables, decodeExtsload(answer));
    return {
      pauseLevel: state.pauseLevel,
      curve: (prices, quote) => flatCurve(state, prices, decodeProviderQuote(quote)),
    };
  },
};

/** Undefined without a result, or when it is not a quote. */
export function decodeProviderQuote(result: CallResult | undefined): ProviderQuote | undefined {
  if (!result?.success || size(result.data) < TWO_WORDS) return undefined;
  return { bidX64: wordAt(result.data, 0), askX64: wordAt(result.data, 1) };
}

const flatUnitSwaps: UnitSwapDuty = {
  gasLimit: UNIT_SWAP_GAS_LIMIT,
  calls(result, trader) {
    const quote = decodeProviderQuote(result);
    const unit = (zeroForOne: boolean, told: ProviderQuote) => [
      encodeSimulation(zeroForOne, SMALLEST_SWAP, told, trader),
    ];
    return quote ? { bids: unit(true, quote), asks: unit(false, quote) } : null;
  },
  isRefused: (results) => results.every((result) => isRejection(swapOutcome(result))),
};

/** Pools whose arithmetic, storage and events are public. */
export const flatAdapter: LayoutAdapter = {
  layout: 'flat',
  prices: poolPrices({ selector: toFunctionSelector('getBidAndAskPrice()'), words: 2 }),
  state: flatState,
  stopLoss: flatStopLoss,
  unitSwaps: flatUnitSwaps,
};

import { decodeFunctionResult, parseAbi, size, toFunctionSelector } from 'viem';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { LayoutAdapter, StateDuty, StopLossDuty } from '../../layout.ts';
import { poolPrices } from '../pool-prices.ts';
import { STORAGE_ARRANGEMENTS } from './candidates.ts';
import { packedSearch } from './curve-ranks.ts';
import type { ProviderQuote } from './provider-quote.ts';
import { decodeExtsload, encodeExtsload, HEAD_SLOTS, packedStorage } from './storage.ts';

const QUOTE_ABI = parseAbi(['function getQuote() returns (uint128 bidX64, uint128 askX64, uint128 referenceX64)']);
const QUOTE_WORDS = 3;
/** Bytes of an array of words before its elements. */
const ARRAY_HEAD = 64;

const storage = packedStorage(STORAGE_ARRANGEMENTS[0]);

const packedState: StateDuty = {
  pauseLevelCall: { data: encodeExtsload(HEAD_SLOTS), answerBytes: ARRAY_HEAD + HEAD_SLOTS.length * 32 },
  decodePauseLevel({ success, data }) {
    if (!success || size(data) < ARRAY_HEAD + HEAD_SLOTS.length * 32) return null;
    return storage.decodeHead(decodeExtsload(data)).pauseLevel;
  },
  call(immutables) {
    const slots = storage.stateSlots(immutables);
    return { data: encodeExtsload(slots), words: slots.length };
  },
  decode(immutables, answer) {
    const { head, state } = storage.decodeState(immutables, decodeExtsload(answer));
    return {
      pauseLevel: state.pauseLevel,
      curve: (prices, quote, code) =>
        packedSearch({ state, mutableProvider: head.mutablePriceProvider, prices, quote: decodeQuote(quote), code }),
    };
  },
};

/** Undefined without a result, or when it is not a quote. */
function decodeQuote(result: CallResult | undefined): ProviderQuote | undefined {
  if (!result?.success || size(result.data) < QUOTE_WORDS * 32) return undefined;
  const [bidX64, askX64, referenceX64] = decodeFunctionResult({ abi: QUOTE_ABI, data: result.data });
  return { bidX64, askX64, referenceX64 };
}

/** Not read yet: pools with a stop loss are simulated at every bin. */
const unreadStopLoss: StopLossDuty = {
  calls: (_extension, pool) => [{ target: pool, data: encodeExtsload([]) }],
  decode() {
    throw new Error('the state of stop losses of this layout is not read');
  },
};

/** Pools whose storage and events are public in part, and whose fees combine as each pool itself shows. */
export const packedAdapter: LayoutAdapter = {
  layout: 'packed',
  prices: poolPrices({ selector: toFunctionSelector('getQuote()'), words: QUOTE_WORDS }),
  state: packedState,
  stopLoss: unreadStopLoss,
};

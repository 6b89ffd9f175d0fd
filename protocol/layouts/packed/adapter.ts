import { size } from 'viem';
import type { LayoutAdapter, StateDuty } from '../../layout.ts';
import { poolPrices } from '../pool-prices.ts';
import { STORAGE_ARRANGEMENTS } from './candidates.ts';
import { packedSearch } from './curve-ranks.ts';
import { decodeQuote, QUOTE_CALL, QUOTE_WORDS } from './provider-quote.ts';
import { packedStopLoss } from './stop-loss-reading.ts';
import { decodeExtsload, encodeExtsload, HEAD_SLOTS, packedStorage } from './storage.ts';

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
        packedSearch({
          state,
          mutableProvider: head.mutablePriceProvider,
          prices,
          quote: quote && decodeQuote(quote),
          code,
        }),
    };
  },
};

/** Pools whose storage and events are public in part, and whose fees combine as each pool itself shows. */
export const packedAdapter: LayoutAdapter = {
  layout: 'packed',
  prices: poolPrices({ selector: QUOTE_CALL, words: QUOTE_WORDS }),
  state: packedState,
  stopLoss: packedStopLoss,
};

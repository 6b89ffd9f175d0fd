import { isRejection, SMALLEST_SWAP } from '../../curve.ts';
import type { LayoutAdapter, StateDuty, UnitSwapDuty } from '../../layout.ts';
import { decodeExtsload, stateCallOf } from '../extsload.ts';
import { swapOutcome } from '../pool-errors.ts';
import { poolPrices } from '../pool-prices.ts';
import { packedSearch } from './curve-ranks.ts';
import { decodeHead, HEAD_BYTES, HEAD_DATA, storage } from './head-call.ts';
import { decodeQuote, QUOTE_CALL, QUOTE_WORDS } from './provider-quote.ts';
import { encodeSimulation, SIMULATION_FORMS, SWAP_GAS_LIMIT } from './simulation.ts';
import { packedStopLoss } from './stop-loss-reading.ts';

const packedState: StateDuty = {
  pauseLevelCall: { data: HEAD_DATA, answerBytes: HEAD_BYTES },
  decodePauseLevel: (result) => decodeHead(result)?.pauseLevel ?? null,
  call: stateCallOf(storage.stateSlots),
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

const packedUnitSwaps: UnitSwapDuty = {
  gasLimit: SWAP_GAS_LIMIT + 220_000,
  calls(result, trader) {
    const quote = decodeQuote(result);
    if (!quote) return null;
    const unit = (zeroForOne: boolean) =>
      SIMULATION_FORMS.map((form) =>
        encodeSimulation(form, { zeroForOne, amountSpecified: SMALLEST_SWAP, quote, trader }),
      );
    return { bids: unit(true), asks: unit(false) };
  },
  // A pool answers a form that it does not know with nothing.
  isRefused(results) {
    const told = results.map(swapOutcome).filter((outcome) => outcome !== 'silence');
    return told.length > 0 && told.every(isRejection);
  },
};

/** Pools whose storage and events are public in part, and whose fees combine as each pool itself shows. */
export const packedAdapter: LayoutAdapter = {
  layout: 'packed',
  prices: poolPrices({ selector: QUOTE_CALL, words: QUOTE_WORDS }),
  state: packedState,
  stopLoss: packedStopLoss,
  unitSwaps: packedUnitSwaps,
};

import { createAdapter } from '../create-adapter.ts';
import { pricePool } from '../ladder.ts';
import { poolCurve } from '../pool-side.ts';
import { stopLossReader } from '../stop-loss-reader.ts';
import { packedSearch } from './curve-methods.ts';
import { FEE_FORMULAS, formulaCurve } from './formulas.ts';
import { isTradableQuote, PACKED_QUOTE } from './quote.ts';
import { packedSimulation } from './simulation.ts';
import { packedStorage } from './storage.ts';
import { packedStoredLayout } from './stored-layout.ts';

/** How pools are read whose storage and events are public in part. Each pool itself shows how its fees combine. */
export const packedAdapter = createAdapter({
  layout: 'packed',
  quote: PACKED_QUOTE,
  storage: packedStorage,
  curve: (state, head, read) => packedSearch({ ...read, state, mutablePriceProvider: head().mutablePriceProvider }),
  expectedCurve(state, quote, known) {
    const formula = FEE_FORMULAS.find(({ name }) => known?.formulas?.names.includes(name));
    if (!known || !formula || !isTradableQuote(quote)) return null;
    return poolCurve(formulaCurve(pricePool(state, quote), formula), packedSimulation, known.form);
  },
  stopLoss: stopLossReader({ mark: null, binType: 'int16', decayScale: 10n ** 18n }),
  // As the newest release has it.
  velocityWord: 4,
  stored: packedStoredLayout,
  simulation: packedSimulation,
});

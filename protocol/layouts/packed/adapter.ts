import { createAdapter } from '../create-adapter.ts';
import { stopLossReader } from '../stop-loss-reader.ts';
import { packedSearch } from './curve-methods.ts';
import { PACKED_QUOTE } from './quote.ts';
import { packedSimulation } from './simulation.ts';
import { packedStorage } from './storage.ts';
import { packedStoredLayout } from './stored-layout.ts';

/** Pools whose storage and events are public in part, and whose fees combine as each pool itself shows. */
export const packedAdapter = createAdapter({
  layout: 'packed',
  quote: PACKED_QUOTE,
  storage: packedStorage,
  curve: (state, head, read) => packedSearch({ ...read, state, mutablePriceProvider: head().mutablePriceProvider }),
  stopLoss: stopLossReader({ mark: null, binType: 'int16', decayScale: 10n ** 18n }),
  stored: packedStoredLayout,
  simulation: packedSimulation,
});

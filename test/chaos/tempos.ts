import type { ChaosOptions } from './run-chaos.ts';

type Pace = Pick<ChaosOptions, 'tempo' | 'rates'>;

/** Minutes of it kill every part many times. */
export const FULL: Pace = {
  tempo: {
    // An indexer that was killed waits up to 25 s for the lock of its schema: it must get somewhere in between.
    indexer: [15_000, 60_000],
    process: [1_500, 6_000],
    server: [12_000, 35_000],
    serverDown: [100, 4_000],
    builder: [4_000, 12_000],
    reorganisation: [3_000, 12_000],
    stall: [6_000, 20_000],
    stalled: [500, 12_000],
    attack: [2_000, 8_000],
  },
  rates: { blocks: 4, requests: 25, quoteUpdates: 15 },
};

/** Half a minute of it kills every part at least once. */
export const SHORT: Pace = {
  tempo: {
    indexer: [2_000, 4_000],
    process: [1_000, 2_500],
    server: [3_000, 7_000],
    serverDown: [100, 1_500],
    builder: [2_000, 5_000],
    reorganisation: [1_500, 4_000],
    stall: [2_500, 6_000],
    stalled: [500, 3_000],
    attack: [300, 1_200],
  },
  rates: { blocks: 4, requests: 15, quoteUpdates: 10 },
};

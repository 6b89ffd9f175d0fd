import { z } from 'zod';

const count = z.int().positive();

/** How much scheduled work does at a time. What it costs the nodes is bounded by each chain's `readBudget`. */
export const CaptureConfig = z.strictObject({
  /** A pool that holds so much in priced tokens is listed anew whenever their prices change; the others take turns. */
  repricedFromUsd: z.number().positive().default(1),
  /** Pools of a chain whose bins are compared with their storage in a round. */
  comparedPools: count.default(20),
  /** A try of a calibration: newest swaps of the chain that it looks through, pools and swaps among them that it reads. */
  calibrationSearched: count.default(5_000),
  calibrationPools: count.default(300),
  calibrationSwaps: count.default(20),
});

export type CaptureConfig = z.infer<typeof CaptureConfig>;

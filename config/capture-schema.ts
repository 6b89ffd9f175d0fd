import { z } from 'zod';

/** How much scheduled work does at a time. What it costs the nodes is bounded by each chain's `readBudget`. */
export const CaptureConfig = z.strictObject({
  /** A pool that holds so much in priced tokens is listed anew whenever their prices change; the others take turns. */
  repricedFromUsd: z.number().positive().default(1),
});

export type CaptureConfig = z.infer<typeof CaptureConfig>;

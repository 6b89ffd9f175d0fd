import { z } from 'zod';

const count = z.int().positive();

/** How much scheduled work does at a time. What it costs the nodes is bounded by each chain's `readBudget`. */
export const CaptureConfig = z.strictObject({
  /** A job rests so many times as long as its round took, until rounds begin 15 s apart. */
  restPerWork: z.number().positive().default(4),
  /** A list of pools or tokens is used for so many times as long as it took to read, 2 s at least. */
  listUsePerRead: count.default(100),
  /** A pool that holds so much in priced tokens is listed anew whenever their prices change; the others take turns. */
  repricedFromUsd: z.number().positive().default(1),
});

export type CaptureConfig = z.infer<typeof CaptureConfig>;

import { z } from 'zod';

export const QuotesConfig = z.strictObject({
  rpcTimeoutMs: z
    .int()
    .positive()
    .default(3_000)
    .describe(
      "Longest wait for one node's whole answer, before the next node is tried; capture's too, but 10 s where a chain has one URL.",
    ),
  warmSecs: z
    .int()
    .nonnegative()
    .default(30)
    .describe('How long after a request its pools are read at each new block; 0: only what streams subscribe to.'),
});

export type QuotesConfig = z.infer<typeof QuotesConfig>;

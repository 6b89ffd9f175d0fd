import { z } from 'zod';
import { NaturalInt, PositiveInt } from './scalars.ts';

export const QuotesConfig = z.strictObject({
  rpcTimeoutMs: PositiveInt.default(3_000).describe(
    "Longest wait for one node's whole answer, before the next node is tried; capture's too, but 10 s where a chain has one URL.",
  ),
  maxAgeMs: PositiveInt.optional().describe(
    'A quote of a block that is older than this is not given (503). Unset: ten block times, 5 s to 60 s.',
  ),
  warmSecs: NaturalInt.default(30).describe(
    'How long after a request its pools are read at each new block; 0: only what streams subscribe to.',
  ),
});

/** How old the block of a quote may be when the quote is given, in milliseconds. */
export const maxQuoteAgeMs = ({ maxAgeMs }: QuotesConfig, blockTimeMs: number): number =>
  maxAgeMs ?? Math.min(60_000, Math.max(5_000, 10 * blockTimeMs));

export type QuotesConfig = z.infer<typeof QuotesConfig>;

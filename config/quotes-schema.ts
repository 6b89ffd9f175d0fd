import { z } from 'zod';

const milliseconds = z.int().positive();

/** How the API reads pools from the chains. The defaults fit public chains. */
export const QuotesConfig = z.strictObject({
  /** Longest wait for one node's whole answer, before the next node is tried. */
  rpcTimeoutMs: milliseconds.default(3_000),
  /** Longest read of one snapshot, over all nodes and calls. */
  readTimeoutMs: milliseconds.default(8_000),
  /** The same on chains of kind ethereum, where a slower read is answered with 503. */
  ethereumReadTimeoutMs: milliseconds.default(3_000),
  /** Longest wait of a request for a read that another request started. */
  waitTimeoutMs: milliseconds.default(5_000),
  /** Shortest time between two looks at a chain's head. */
  minRefreshMs: milliseconds.default(500),
  /** How long after a request its pools are read at each new block before anyone asks; 0: only what streams hold. */
  warmSecs: z.int().nonnegative().default(30),
  /** Pools whose every level is simulated that one block has room for, by chain; the others get 503. */
  simulatedPoolsPerRead: z.int().nonnegative().default(10),
  /** Bound of the snapshot cache of each chain, counted in bins: about 1 KB each. */
  cacheBins: z.int().positive().default(100_000),
  /** Of so many pools, those read last, it is remembered how their curve became known and that their guards burn gas. */
  rememberedPools: z.int().positive().default(10_000),
});

export type QuotesConfig = z.infer<typeof QuotesConfig>;

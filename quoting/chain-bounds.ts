import type { ChainRpc } from '../chain/chain-rpc.ts';
import type { ChainConfig } from '../config/chains-schema.ts';
import { maxQuoteAgeMs, type QuotesConfig } from '../config/quotes-schema.ts';
import type { CountChainCall } from '../runtime/chain-calls.ts';
import type { Clocks } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';

/** Bounds of reads that no operator sets. */
const BOUNDS = {
  /** Longest read of one snapshot, over all nodes and calls. */
  readTimeoutMs: 8_000,
  /** The same on Ethereum and chains of kind `ethereum`, where a slower read returns 503. */
  ethereumReadTimeoutMs: 3_000,
  /** Longest wait of a request for a read that another request started. */
  waitTimeoutMs: 5_000,
  /** Shortest time between two heads that are taken. */
  minRefreshMs: 500,
  /** How many pools of a chain may have every level simulated at one block; further ones get 503. */
  simulatedPoolsPerRead: 10,
  /** Size of the snapshot cache of each chain, in bins of about 1 KB. */
  cacheBins: 100_000,
  /** How long no call may fail before an outage of the nodes is over. Longer than the breaker of a node pauses. */
  nodesQuietMs: 30_000,
};

/** The operator's settings, and bounds that replace the usual ones, as in tests. */
export type QuoteOptions = QuotesConfig & Partial<typeof BOUNDS>;

/** What all that reads one chain is opened with. */
export interface ChainContext extends Clocks {
  readonly config: ChainConfig;
  readonly bounds: ReturnType<typeof chainBounds>;
  readonly rpc: ChainRpc;
  readonly countCall: CountChainCall;
  /** Names the chain in each line. */
  readonly logger: Logger;
}

/** What bounds the reads of one chain; milliseconds. */
export function chainBounds({ chainId, pamm, rpcUrls, blockTimeMs }: ChainConfig, quotes: QuoteOptions) {
  const { ethereumReadTimeoutMs, rpcTimeoutMs, ...bounds } = { ...BOUNDS, ...quotes };
  const slowIsUnavailable = chainId === 1 || pamm?.kind === 'ethereum';
  const readTimeoutMs = slowIsUnavailable ? ethereumReadTimeoutMs : bounds.readTimeoutMs;
  return {
    ...bounds,
    slowIsUnavailable,
    readTimeoutMs,
    maxAgeMs: maxQuoteAgeMs(quotes, blockTimeMs),
    // A slow node must leave time to call the next one.
    rpcTimeoutMs: Math.min(rpcTimeoutMs, Math.ceil(readTimeoutMs / Math.min(2, rpcUrls.length))),
  };
}

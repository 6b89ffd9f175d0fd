import type { ChainRpc } from '../chain/chain-rpc.ts';
import type { BlockRef } from '../chain/read-context.ts';
import type { ChainConfig } from '../config/chains-schema.ts';
import type { BidAsk } from '../protocol/curve.ts';
import type { ServedPool } from '../quoting/pools/pool-directory.ts';
import { createPoolReader } from '../quoting/reads/create-pool-reader.ts';
import type { FoundCurve } from '../quoting/reads/sides-reader.ts';
import { SnapshotError } from '../quoting/snapshot-error.ts';
import { CLOSED_ASK_X64, CLOSED_BID_X64, type HeadContext } from '../quoting/types.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';

export interface QuoteReaderDeps {
  readonly chain: ChainConfig;
  readonly rpc: ChainRpc;
  /** The head to read at after nodes refused a block. Default: the read fails. */
  readonly nextHead?: () => Promise<HeadContext>;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
  readonly logger: Logger;
}

/** What one pool quotes at a block: its whole curve, and the part that trades. A side may be closed by a token. */
export interface QuotedCurve extends FoundCurve, BidAsk {
  readonly block: BlockRef;
  /** Whether overrides of sources make the price. */
  readonly hasLivePrice: boolean;
}

/**
 * Reads a pool as the API's quotes do.
 *
 * @returns null when the pool does not trade; undefined when it does not show its depth without a simulation of each
 * bin, or nodes gave its storage without its prices
 * @throws RpcFailure when nodes did not give the block's state
 */
export type ReadQuote = (at: HeadContext, pool: ServedPool) => Promise<QuotedCurve | null | undefined>;

/** Whether both sides are open: distances from mid can be measured. */
export const hasMid = ({ bidX64, askX64 }: BidAsk): boolean => bidX64 !== CLOSED_BID_X64 && askX64 !== CLOSED_ASK_X64;

/** Timeout of one phase of calls, over all nodes. */
const READ_TIMEOUT_MS = 8_000;

export function createQuoteReader({ chain, rpc, nextHead, wallClock, logger }: QuoteReaderDeps): ReadQuote {
  const { chainId, multicall3 } = chain;
  const head = nextHead ?? (() => Promise.reject(new SnapshotError('read_failed', 'no node has the block')));
  const reader = createPoolReader({
    target: { rpc, chainId, multicall3 },
    // A block at which nodes refuse calls is not remembered: the next read is at another one.
    heads: { head, caughtUp: async () => false, confirm: () => undefined, reject: () => true },
    simulatedPoolsPerRead: 0,
    readTimeoutMs: READ_TIMEOUT_MS,
    observer: {},
    logger,
    wallClock,
  });
  return async (at, pool) => {
    try {
      const prices = await reader.prices(at, { pool });
      if (prices.status === 'internal_error') return undefined;
      const found = await reader.curve(at, prices);
      if (!found || (found.trading.bids === null && found.trading.asks === null)) return null;
      const { block, bidX64, askX64, hasLivePrice } = prices;
      return { ...found, block, bidX64, askX64, hasLivePrice };
    } catch (error) {
      if (error instanceof SnapshotError) return undefined;
      throw error;
    }
  };
}

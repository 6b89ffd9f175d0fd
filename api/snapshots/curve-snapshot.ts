import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { LazyCurve } from '../../protocol/layout.ts';
import { quoteStatus } from '../../protocol/quote-status.ts';
import type { PoolRead } from './pool-calls.ts';
import type { ServedPool } from './pool-directory.ts';
import { CLOSED_ASK_X64, CLOSED_BID_X64, type Snapshot } from './types.ts';

/** A pool at one block before its guards were asked; `curve` is null unless the pool is healthy. */
export interface CurveSnapshot {
  readonly snapshot: Snapshot & { readonly depth: null };
  readonly curve: LazyCurve | null;
}

export interface CurveInput {
  readonly pool: ServedPool;
  readonly block: BlockRef;
  /** Unix seconds. */
  readonly readAt: number;
  readonly read: PoolRead;
  /** The provider's answer, when the node could ask it. */
  readonly quote: CallResult | undefined;
}

/** Prices come from the chain to the last digit; the quote behind them only lays the curve. */
export function buildCurveSnapshot({ pool, block, readAt, read, quote }: CurveInput): CurveSnapshot {
  const { prices } = read;
  const curve = typeof prices === 'string' ? null : read.state.curve(prices, quote);
  const price = typeof prices === 'string' ? prices : curve ? 'read' : 'unread';
  const status = quoteStatus({
    price,
    pauseLevel: read.state.pauseLevel,
    bidsRefused: false,
    asksRefused: false,
  });
  const open = status === 'healthy' && typeof prices !== 'string';
  const snapshot = {
    pool,
    block,
    readAt,
    status,
    bidX64: open ? prices.sellX64 : CLOSED_BID_X64,
    askX64: open ? prices.buyX64 : CLOSED_ASK_X64,
    balance0Raw: read.balance0Raw,
    balance1Raw: read.balance1Raw,
    depth: null,
  };
  return { snapshot, curve: open ? curve : null };
}

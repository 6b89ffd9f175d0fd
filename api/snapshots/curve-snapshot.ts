import type { ComputedCurve, LayoutAdapter } from '../../protocol/layout.ts';
import { isTradableQuote, type SellAndBuyPrices } from '../../protocol/layouts/flat/geometry.ts';
import type { ProviderQuote } from '../../protocol/layouts/flat/pool-state.ts';
import type { Sides } from '../../protocol/layouts/flat/side-curve.ts';
import { quoteStatus } from '../../protocol/quote-status.ts';
import type { PoolRead } from './pool-calls.ts';
import type { ServedPool } from './pool-directory.ts';
import { type BlockRef, CLOSED_ASK_X64, CLOSED_BID_X64, type Snapshot, SnapshotError } from './types.ts';

/** The curve of a healthy pool. Its sides are walked when first asked for: `depth=false` never asks. */
export interface PoolCurve {
  readonly quote: ProviderQuote;
  readonly duty: ComputedCurve;
  sides(): Sides;
}

/** A pool at one block before its guards were asked; `curve` is null unless the pool is healthy. */
export interface CurveSnapshot {
  readonly snapshot: Snapshot & { readonly depth: null };
  readonly curve: PoolCurve | null;
}

export interface CurveInput {
  readonly pool: ServedPool;
  readonly layout: LayoutAdapter;
  readonly block: BlockRef;
  /** Unix seconds. */
  readonly readAt: number;
  readonly read: PoolRead;
  /** The provider's quote, when the node could tell it. */
  readonly quote: ProviderQuote | undefined;
}

/** Prices come from the chain to the last digit; the quote behind them only lays the curve. */
export function buildCurveSnapshot({ pool, layout, block, readAt, read, quote }: CurveInput): CurveSnapshot {
  const { prices } = read;
  const curve = typeof prices === 'string' ? null : poolCurve(layout, read, prices, quote);
  const price = typeof prices === 'string' ? prices : curve ? 'read' : 'unread';
  const status = quoteStatus({
    price,
    pauseLevel: read.head.pauseLevel,
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

/** Null when no quote explains the prices. */
function poolCurve(
  layout: LayoutAdapter,
  read: PoolRead,
  prices: SellAndBuyPrices,
  told: ProviderQuote | undefined,
): PoolCurve | null {
  const duty = layout.curve;
  if (duty.kind !== 'computed') throw new SnapshotError('read_failed', `layout ${layout.layout} has no computed curve`);
  const quote = told && explains(duty, read, prices, told) ? told : layout.quote.invertPrices(read.state, prices);
  if (!quote) return null;
  let sides: Sides | undefined;
  return {
    quote,
    duty,
    sides: () => {
      sides ??= duty.sides(read.state, quote);
      return sides;
    },
  };
}

function explains(duty: ComputedCurve, { state }: PoolRead, prices: SellAndBuyPrices, quote: ProviderQuote): boolean {
  if (!isTradableQuote(quote)) return false;
  const computed = duty.prices(state, quote);
  return computed.sellX64 === prices.sellX64 && computed.buyX64 === prices.buyX64;
}

import type { Address } from 'viem';
import type { ReportedHead } from '../chain/chain-rpc.ts';
import type { BlockRef, ReadContext } from '../chain/read-context.ts';
import type { CallResult } from '../protocol/bounded-calls/bounded-calls.ts';
import type { CurveSearch, SearchedCurve } from '../protocol/curve-search.ts';
import type { Depth, TradingSides } from '../protocol/depth.ts';
import type { SimulatedSwap } from '../protocol/guards/simulated-swap.ts';
import type { LazyCurve } from '../protocol/layout.ts';
import type { PriceProviderStatus } from '../protocol/quote-status.ts';
import type { TransferLimits } from '../protocol/transfers/transfer-limits.ts';
import type { ServedPool } from './pools/pool-directory.ts';
import type { SnapshotError } from './snapshot-error.ts';

/** Prices that mean "this side does not trade", Q64.64. */
export const CLOSED_BID_X64 = 0n;
export const CLOSED_ASK_X64 = (1n << 128n) - 1n;

/**
 * One pool at one block, as clients and routes see it.
 *
 * Invariants:
 * 1. A snapshot of any other status than `healthy` has both prices closed and both sides of `depth` empty.
 * 2. A closed side has no levels.
 * 3. A `healthy` snapshot has at least one open side.
 */
export interface Snapshot {
  readonly pool: ServedPool;
  /** With `pending`, the pool has a live price: its overrides change what the provider quotes. */
  readonly block: BlockRef;
  /** Our clock when the snapshot was read, Unix seconds. */
  readonly readAt: number;
  /** Whether its chain has a source of live prices. */
  readonly hasSource?: boolean;
  /** How old the overrides of sources were when the snapshot was read, milliseconds; absent at a committed block. */
  readonly sourceAgeMs?: number;
  /**
   * Names of the sources that held the same price when the snapshot was read; null: it is not known which. Absent at a
   * committed block.
   */
  readonly sources?: readonly string[] | null;
  /** Set where the pool may have a live price that nodes did not give: it is read again in the block being built. */
  readonly isProvisional?: boolean;
  /** Only a `healthy` pool trades. */
  readonly status: PriceProviderStatus;
  /** Best price for selling token0, fees included, Q64.64; `CLOSED_BID_X64` when it cannot be sold. */
  readonly bidX64: bigint;
  /** Best price for buying token0, fees included, Q64.64; `CLOSED_ASK_X64` when it cannot be bought. */
  readonly askX64: bigint;
  /** Balances of the pool, raw units, uncollected fees included; null when the token did not answer. */
  readonly balance0Raw: bigint | null;
  readonly balance1Raw: bigint | null;
  /** The part of the curve that the pool's guards let trade; null when the snapshot was read without depth. */
  readonly depth: Depth | null;
}

/** A snapshot without depth. */
export type PriceSnapshot = Snapshot & {
  readonly depth: null;
  /** What depth is computed from; null unless the pool is `healthy`. */
  readonly curve: LazyCurve | CurveSearch | null;
  /** How much of its tokens the pool can send and receive. */
  readonly limits: TransferLimits;
  /** Whether overrides of sources make the price; false at a committed block. */
  readonly hasLivePrice: boolean;
  /** Hashes of the pool's answers, see `stateIn`. Snapshots with the same ones differ only in block and time. */
  readonly fingerprint: string;
  /** In a block that is being built, what the pool's stop loss answered there: see `stopLossCalls`. */
  readonly stopLoss?: readonly CallResult[] | undefined;
  /** After a part, the state of its velocity guards: the same object while nothing changed that its sides depend on. */
  readonly velocity?: readonly CallResult[] | undefined;
  /** Swaps that were simulated with the prices. */
  readonly simulated?: readonly SimulatedSwap[] | undefined;
};

/** A snapshot with depth, guards applied. */
export type DepthSnapshot = Snapshot & {
  readonly depth: Depth;
  /** What its levels are of; null or absent where no curve is known. */
  readonly curve?: SearchedCurve | null | undefined;
};

/** The part of each side that trades, and the curve that it is of. */
export type CurveSides = TradingSides & Pick<DepthSnapshot, 'curve'>;

/** The kinds of quotes, and what is read for them: prices alone, or prices and depth. */
export type Kinds = { readonly prices: PriceSnapshot; readonly depths: DepthSnapshot };
export type QuoteKind = keyof Kinds;
export const QUOTE_KINDS = ['prices', 'depths'] as const satisfies readonly QuoteKind[];

/** By address, each pool that was asked for: its snapshot, or why it has none. */
export type SnapshotMap<S extends Snapshot = Snapshot> = ReadonlyMap<Address, S | SnapshotError>;

/**
 * Shared snapshots of one chain. The first request of a block reads the chain; other requests join that read or find
 * its result. Failures of a pool or of the chain are entries of the map: no promise rejects for them.
 */
export interface ChainSnapshots {
  /** The fresh snapshot of a pool, if it is read: what `prices` or `depths` would give, without a promise. */
  cached(pool: ServedPool, kind: QuoteKind): Snapshot | undefined;
  /** Whether `cached` would give this snapshot. */
  isCached(snapshot: Snapshot, kind: QuoteKind): boolean;
  /** Whether the pool is read, or being read, at the newest block that was taken: to ask for it costs no call. */
  isRead(pool: ServedPool, kind: QuoteKind): boolean;
  /** Prices without levels: status and closed sides are those of `depths`. */
  prices(pools: readonly ServedPool[], options?: ReadOptions): Promise<SnapshotMap>;
  /** Prices and depth, guards applied. */
  depths(pools: readonly ServedPool[], options?: ReadOptions): Promise<SnapshotMap<DepthSnapshot>>;
}

/** A head, and the budget of a scheduled read at it. */
export type HeadContext = ReportedHead & Pick<ReadContext, 'reserve'>;

export interface ReadOptions {
  /** Ends the wait: pools that are not read by then get `timed_out`. Their reads continue for other requests. */
  readonly signal?: AbortSignal;
  /**
   * Reads at this head only. If its block is not the newest that was taken, all pools get `timed_out`. Pools share
   * calls only with pools read with the same budget.
   */
  readonly at?: HeadContext;
}

import type { Address } from 'viem';
import type { BlockRef, ReportedHead } from '../chain/chain-rpc.ts';
import type { CurveSearch } from '../protocol/curve-search.ts';
import type { Depth } from '../protocol/depth.ts';
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
 * Invariants: any status but `healthy` has both prices closed and both sides of `depth` empty; a closed side has no
 * levels; a `healthy` snapshot has at least one side open.
 */
export interface Snapshot {
  readonly pool: ServedPool;
  readonly block: BlockRef;
  /** Our clock when the snapshot was read, Unix seconds. */
  readonly readAt: number;
  /** Only a `healthy` pool trades. */
  readonly status: PriceProviderStatus;
  /** Best price for selling token0, fees included, Q64.64; `CLOSED_BID_X64` when it cannot be sold. */
  readonly bidX64: bigint;
  /** Best price for buying token0, fees included, Q64.64; `CLOSED_ASK_X64` when it cannot be bought. */
  readonly askX64: bigint;
  /** Balances of the pool, raw units, uncollected fees included; null when the token did not answer. */
  readonly balance0Raw: bigint | null;
  readonly balance1Raw: bigint | null;
  /** The part that the pool's guards let trade; null when the snapshot was asked for without depth. */
  readonly depth: Depth | null;
}

/** A snapshot without depth. */
export type PriceSnapshot = Snapshot & {
  readonly depth: null;
  /** What depth is made from; null unless the pool is `healthy`. */
  readonly curve: LazyCurve | CurveSearch | null;
  /** How much of the pool's tokens moves. */
  readonly limits: TransferLimits;
  /** Of the answers that it was read from: at a block with the same answers it is the same but for block and time. */
  readonly fingerprint: string;
};

/** A snapshot with depth, guards applied. */
export type DepthSnapshot = Snapshot & { readonly depth: Depth };

/** By pool address: each pool asked for has an entry, its snapshot or why it has no snapshot. */
export type SnapshotMap<S extends Snapshot = Snapshot> = ReadonlyMap<Address, S | SnapshotError>;

/**
 * Shared snapshots of one chain: the first request of a block reads the chain, all others join that read or find its
 * result. Never rejects for a pool's or a chain's sake: failures are entries of the map.
 */
export interface ChainSnapshots {
  /** The snapshot of a pool if it is read and fresh: what `prices` or `depths` would give, without a promise. */
  cached(pool: ServedPool, kind: 'prices' | 'depths'): Snapshot | undefined;
  /** Whether `cached` would give this snapshot. */
  isCached(snapshot: Snapshot, kind: 'prices' | 'depths'): boolean;
  /** Whether the pool is read at the newest block that was taken, or is being read: to ask for it costs no call. */
  isRead(pool: ServedPool, kind: 'prices' | 'depths'): boolean;
  /** Prices without levels: status and closed sides are those of `depths`. */
  prices(pools: readonly ServedPool[], options?: ReadOptions): Promise<SnapshotMap>;
  /** Prices and depth, guards applied. */
  depths(pools: readonly ServedPool[], options?: ReadOptions): Promise<SnapshotMap<DepthSnapshot>>;
}

export interface ReadOptions {
  /** Stops the wait: pools still unread then get `timed_out`. A read that is shared continues. */
  readonly signal?: AbortSignal;
  /**
   * Reads at this head alone, as long as its block is the newest one that was taken; else all pools get `timed_out`. Pools share
   * calls with those read at the same object only: its block may have a budget of its own.
   */
  readonly at?: ReportedHead;
}

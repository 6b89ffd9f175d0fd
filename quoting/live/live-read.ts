import type { PendingState } from '../../chain/pending-state.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { DepthSnapshot, PriceSnapshot } from '../types.ts';

/** A read of a pool in a block that is being built. */
export interface LiveRead {
  readonly pool: ServedPool;
  readonly pending: PendingState;
  /** Names the overrides that the price depends on; null: unknown. */
  readonly touching: string | null;
  readonly readAt: number;
  /** Null without a live price, undefined where nodes did not answer. Rejects when the budget is exhausted. */
  readonly prices: Promise<PriceSnapshot | null | undefined>;
  /** Undefined until prices are read. */
  outcome?: PriceSnapshot | null;
  /** Of the same values as prices. Undefined until it is needed. */
  depth?: Promise<DepthSnapshot | null | undefined> | undefined;
}

/** What decides whether a read is used again. */
export interface Reuse {
  /** The overrides that the price depends on now. */
  readonly touching: () => string | null;
  /** How long a read is used again while they stay the same, milliseconds. */
  readonly reuseMs: number;
  readonly now: number;
}

/** Whether another read of the pool, on the same committed block, would give the same. */
export function isReusable(
  read: LiveRead,
  pool: ServedPool,
  pending: PendingState,
  { touching, reuseMs, now }: Reuse,
): boolean {
  if (read.pool !== pool || !isSameTarget(read.pending, pending)) return false;
  if (read.pending.digest === pending.digest) return true;
  return now - read.readAt < reuseMs && read.touching !== null && read.touching === touching();
}

/**
 * Whether what was read contradicts the access list of the pool: it has a live price although no override touches it,
 * or another one than before although the overrides that it depends on are the same.
 */
export function isContradicted(read: LiveRead, before: LiveRead | undefined, priced: PriceSnapshot): boolean {
  const { touching, pending } = read;
  if (touching === '' && priced.hasLivePrice) return true;
  if (touching === null || before?.touching !== touching || !isSameTarget(before.pending, pending)) return false;
  const fingerprint = priced.hasLivePrice ? priced.fingerprint : undefined;
  return before.outcome !== undefined && before.outcome?.fingerprint !== fingerprint;
}

const isSameTarget = (one: PendingState, other: PendingState): boolean =>
  one.blockNumber === other.blockNumber && one.timestamp === other.timestamp;

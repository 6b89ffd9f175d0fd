import type { Depth } from '../../../protocol/depth.ts';
import type { CurveSnapshot } from '../curve-snapshot.ts';
import { CLOSED_ASK_X64, CLOSED_BID_X64, type DepthSnapshot } from '../types.ts';
import type { GuardedSides } from './guard-prober.ts';

const NO_DEPTH: Depth = { bids: [], asks: [] };

/** The snapshot of a pool that no guard can hold back, or that is not healthy. */
export function unguardedDepth({ snapshot, curve }: CurveSnapshot): DepthSnapshot {
  if (!curve) return { ...snapshot, depth: NO_DEPTH };
  const { bids, asks } = curve();
  return { ...snapshot, depth: { bids: bids.levels, asks: asks.levels } };
}

/** The snapshot of a healthy pool with what its guards let trade: refused on both sides, the pool does not trade. */
export function guardedDepth({ snapshot }: CurveSnapshot, { bids, asks }: GuardedSides): DepthSnapshot {
  const isRefused = bids === null && asks === null;
  return {
    ...snapshot,
    status: isRefused ? 'pool_refused' : snapshot.status,
    bidX64: bids === null ? CLOSED_BID_X64 : snapshot.bidX64,
    askX64: asks === null ? CLOSED_ASK_X64 : snapshot.askX64,
    depth: { bids: bids ?? [], asks: asks ?? [] },
  };
}

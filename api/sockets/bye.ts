/** Why a connection ends from our side. */
export type ByeReason = 'shutdown' | 'limits' | 'key_revoked';

/** Bounds of the random time after which to come back, milliseconds: clients of a stopped process spread out. */
const RETRY_MS: Readonly<Record<ByeReason | 'stale', readonly [number, number]>> = {
  shutdown: [1_000, 5_000],
  stale: [1_000, 5_000],
  limits: [10_000, 10_000],
  key_revoked: [60_000, 60_000],
};

/** What the last message of a connection says: why it ends, and when to come back. `stale`: there are no frames. */
export function byeOf<R extends ByeReason | 'stale'>(reason: R): { readonly reason: R; readonly retryMs: number } {
  const [min, max] = RETRY_MS[reason];
  return { reason, retryMs: Math.round(min + Math.random() * (max - min)) };
}

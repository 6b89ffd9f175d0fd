/** The part of its lease that a holder uses. Thus it stops before another process may start. */
const USED_SHARE = 0.8;

/** How long a process may use a lease that it took, milliseconds of its own monotonic clock. */
export interface Term {
  readonly until: number;
  /** Whether it was lost or given up: no answer that comes later changes that. */
  readonly hasEnded: boolean;
}

/**
 * `granted`: Redis answered that the process holds the lease, for its whole duration from some time after `askedAt`.
 */
export type TermEvent = { readonly kind: 'granted'; readonly askedAt: number } | { readonly kind: 'ended' };

export const NEW_TERM: Term = { until: Number.NEGATIVE_INFINITY, hasEnded: false };

/**
 * What the term of a lease becomes when Redis answers, or the holder ends it.
 *
 * 1. It is over while Redis still keeps the lease, however late answers come, and in whatever order.
 * 2. Once it has ended, it does not begin again: what takes the lease again has another term.
 */
export function nextTerm(term: Term, event: TermEvent, durationMs: number): Term {
  if (event.kind === 'ended') return { until: Number.NEGATIVE_INFINITY, hasEnded: true };

  if (term.hasEnded) return term;
  return { ...term, until: Math.max(term.until, event.askedAt + durationMs * USED_SHARE) };
}

/** How long a process may still use its lease, milliseconds; 0 once it is over. */
export const leftMs = ({ until }: Term, now: number): number => Math.max(0, until - now);

import type { Outcome } from './facts.ts';

/** What is known of the comparison of a pool, or of a factory. Blocks are numbers, times Unix milliseconds. */
export interface AuditState {
  readonly auditedBlock: number | null;
  /** Last final block at which both sides agreed. */
  readonly agreedBlock: number | null;
  /** Newest indexed block when a difference was first seen; null without one, and once it counts. */
  readonly suspectedAtBlock: number | null;
  /** Since when a difference counts. Where nothing was audited, it is that of an index before this one. */
  readonly differsSince: number | null;
  readonly lastDifferenceAt: number | null;
  /** Facts that differ; without a difference that counts, what is to be shown before one does. */
  readonly differences: readonly string[];
  /** What has agreed with a value other than zero. */
  readonly shown: readonly string[];
  /** Whether the last comparison found nothing out. */
  readonly isUnread: boolean;
}

/** The end of a comparison: its outcome, the newest indexed block when the index was read, and the time. */
export interface AuditEvent {
  readonly outcome: Outcome;
  readonly indexedBlock: number;
  readonly now: number;
}

/** What to report: a difference that counts from now on, or the end of one. */
export type AuditEffect = 'differs' | 'agreesAgain' | null;

export const NEVER_AUDITED: AuditState = {
  auditedBlock: null,
  agreedBlock: null,
  suspectedAtBlock: null,
  differsSince: null,
  lastDifferenceAt: null,
  differences: [],
  shown: [],
  isUnread: false,
};

/**
 * Takes the outcome of a comparison.
 *
 * 1. A comparison that found nothing out changes nothing else, and all others end that.
 * 2. A difference counts when a second comparison in a row finds one, and the index has taken a block since the first:
 *    after a reorganisation of another chain, Ponder takes final events of this one back until its next block.
 * 3. One comparison in which both agree ends a difference, as does one in which nothing that differs counts.
 * 4. `agreedBlock` is the block of the last comparison that agreed in all; others leave it. What reads past states may
 *    find a later one.
 * 5. Each difference that counts sets `lastDifferenceAt`, which stays.
 * 6. What is unproven counts where the pool never agreed: its index may be wrong from the start.
 * 7. A difference of an index before this one counts until the first comparison, and from then on if that finds one.
 */
export function nextAudit(
  state: AuditState,
  { outcome, indexedBlock, now }: AuditEvent,
): { readonly state: AuditState; readonly effect: AuditEffect } {
  if (outcome.kind === 'unknown') return { state: { ...state, isUnread: true }, effect: null };
  const shown = [...new Set([...state.shown, ...outcome.shown])].sort();
  const audited = { ...state, auditedBlock: outcome.block, shown, isUnread: false };
  if (outcome.kind === 'agrees' || (outcome.kind === 'unproven' && !isWrongFromStart(state, outcome))) {
    const { agreedBlock, differences } =
      outcome.kind === 'agrees'
        ? { agreedBlock: outcome.block, differences: [] }
        : { agreedBlock: state.agreedBlock, differences: outcome.needs };
    const calm = { agreedBlock, suspectedAtBlock: null, differsSince: null, differences };
    return { state: { ...audited, ...calm }, effect: state.differsSince === null ? null : 'agreesAgain' };
  }
  const differing = { ...audited, differences: outcome.facts, lastDifferenceAt: now };
  if (state.differsSince !== null) {
    const isOfOther = state.auditedBlock === null;
    return { state: isOfOther ? { ...differing, differsSince: now } : differing, effect: null };
  }
  if (state.suspectedAtBlock !== null && indexedBlock > state.suspectedAtBlock)
    return { state: { ...differing, suspectedAtBlock: null, differsSince: now }, effect: 'differs' };
  const suspectedAtBlock = state.suspectedAtBlock ?? indexedBlock;
  return { state: { ...audited, suspectedAtBlock }, effect: null };
}

const isWrongFromStart = ({ agreedBlock }: AuditState, { facts }: Extract<Outcome, { kind: 'unproven' }>): boolean =>
  agreedBlock === null && facts.length > 0;

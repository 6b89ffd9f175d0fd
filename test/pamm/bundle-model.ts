/**
 * The rules of a bundle endpoint in plain terms, as a reference for the Lua scripts that apply them in Redis. States
 * are never changed, only replaced. Times are Unix milliseconds.
 */

export type Push = {
  readonly id: string;
  readonly uuid: string;
  readonly block: bigint;
  readonly seq: bigint;
  /** Stands for transaction, block and expiry together. */
  readonly content: string;
  readonly expiryMs: number;
  readonly deadlineMs: number;
};

export type BundleModel = {
  /** In order of sending; at most one per uuid. */
  readonly waiting: readonly Push[];
  readonly inFlight?: Push;
  readonly newest: ReadonlyMap<string, Pick<Push, 'block' | 'seq'>>;
  readonly cancels: readonly { readonly uuid: string; readonly seq: bigint; readonly untilMs: number }[];
  /** Contents of bundles that were accepted. */
  readonly accepted: ReadonlySet<string>;
  readonly pausedUntilMs: number;
  /** In a row; forgotten some time after the last pause. */
  readonly failures: number;
};

export type Limits = {
  readonly waiting: number;
  readonly cancelGuardMs: number;
  readonly shortestPauseMs: number;
  readonly longestPauseMs: number;
};

export const EMPTY_BUNDLE_MODEL: BundleModel = {
  waiting: [],
  newest: new Map(),
  cancels: [],
  accepted: new Set(),
  pausedUntilMs: 0,
  failures: 0,
};

export type OfferVerdict = 'queued' | 'accepted' | 'older' | 'duplicate' | 'expired' | 'full' | { pausedMs: number };

/** A higher block always counts as newer; within a block the sequence number decides. */
export function compareAge(a: Pick<Push, 'block' | 'seq'>, b: Pick<Push, 'block' | 'seq'>): number {
  const [left, right] = a.block === b.block ? [a.seq, b.seq] : [a.block, b.block];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A live push arrives. `removed` is the older push of its uuid that no longer waits. */
export function offerInModel(
  model: BundleModel,
  push: Push,
  nowMs: number,
  limits: Limits,
): { readonly model: BundleModel; readonly verdict: OfferVerdict; readonly removed?: Push } {
  const guarded = model.cancels.some((c) => c.uuid === push.uuid && nowMs < c.untilMs && push.seq <= c.seq);
  if (guarded) return { model, verdict: 'older' };
  const wasAccepted = model.accepted.has(push.content);
  const newest = model.newest.get(push.uuid);
  if (newest && compareAge(push, newest) < 0) return { model, verdict: wasAccepted ? 'accepted' : 'older' };
  const place = model.waiting.findIndex((other) => other.uuid === push.uuid);
  const removed = model.waiting[place];
  if (removed && compareAge(push, removed) === 0 && nowMs < removed.deadlineMs) return { model, verdict: 'duplicate' };

  const seen: BundleModel = {
    ...model,
    newest: new Map(model.newest).set(push.uuid, push),
    waiting: model.waiting.filter((other) => other !== removed),
  };
  const took = removed ? { removed } : {};
  if (wasAccepted) return { model: seen, verdict: 'accepted', ...took };
  if (push.expiryMs < nowMs) return { model: seen, verdict: 'expired', ...took };
  if (isCopy(model.inFlight, push, nowMs)) return { model: seen, verdict: 'duplicate', ...took };
  if (nowMs < model.pausedUntilMs) return { model: seen, verdict: { pausedMs: model.pausedUntilMs - nowMs }, ...took };
  if (removed) {
    return { model: { ...seen, waiting: model.waiting.with(place, push) }, verdict: 'queued', removed };
  }
  const room = seen.waiting.length < limits.waiting ? seen.waiting : seen.waiting.filter((p) => nowMs < p.deadlineMs);
  if (room.length >= limits.waiting) return { model: seen, verdict: 'full' };
  return { model: { ...seen, waiting: [...room, push] }, verdict: 'queued' };
}

function isCopy(inFlight: Push | undefined, push: Push, nowMs: number): boolean {
  if (!inFlight || nowMs >= inFlight.deadlineMs) return false;
  return inFlight.content === push.content || (inFlight.uuid === push.uuid && compareAge(inFlight, push) === 0);
}

/** A cancel arrives: it takes out what waits, unless that is newer by block and by sequence number. */
export function cancelInModel(
  model: BundleModel,
  cancel: Pick<Push, 'uuid' | 'block' | 'seq'>,
  nowMs: number,
  limits: Limits,
): { readonly model: BundleModel; readonly removed?: Push } {
  const guard = { uuid: cancel.uuid, seq: cancel.seq, untilMs: nowMs + limits.cancelGuardMs };
  const removed = model.waiting.find(
    (push) => push.uuid === cancel.uuid && !(push.seq > cancel.seq && push.block >= cancel.block),
  );
  const waiting = model.waiting.filter((push) => push !== removed);
  return { model: { ...model, cancels: [...model.cancels, guard], waiting }, ...(removed ? { removed } : {}) };
}

/** The worker asks for the next push. One that is `send` is in flight until it is settled or its deadline passes. */
export function takeInModel(
  model: BundleModel,
  nowMs: number,
): {
  readonly model: BundleModel;
  readonly kind: 'empty' | 'busy' | 'late' | 'expired' | 'send';
  readonly push?: Push;
} {
  if (model.inFlight && nowMs < model.inFlight.deadlineMs) return { model, kind: 'busy' };
  const { inFlight: _, ...idle } = model;
  const [push, ...waiting] = model.waiting;
  if (!push) return { model: idle, kind: 'empty' };
  if (push.deadlineMs <= nowMs) return { model: { ...idle, waiting }, kind: 'late', push };
  if (push.expiryMs < nowMs) return { model: { ...idle, waiting }, kind: 'expired', push };
  return { model: { ...idle, waiting, inFlight: push }, kind: 'send', push };
}

export type SettleKind =
  | { readonly kind: 'accepted' | 'rejected' }
  | { readonly kind: 'failed'; readonly retryAfterMs?: number };

/** The request in flight is over; a failure pauses the endpoint and skips what waits. */
export function settleInModel(
  model: BundleModel,
  push: Push,
  outcome: SettleKind,
  nowMs: number,
  limits: Limits,
): { readonly model: BundleModel; readonly pauseMs: number; readonly skipped: readonly Push[] } {
  const { inFlight, ...rest } = model;
  const idle: BundleModel = inFlight && inFlight.id !== push.id ? model : rest;
  if (outcome.kind !== 'failed') {
    const accepted = outcome.kind === 'accepted' ? new Set(model.accepted).add(push.content) : model.accepted;
    return { model: { ...idle, accepted, pausedUntilMs: 0, failures: 0 }, pauseMs: 0, skipped: [] };
  }
  const failures = model.failures + 1;
  const wanted = outcome.retryAfterMs ?? limits.shortestPauseMs * 2 ** (failures - 1);
  const pauseMs = Math.min(limits.longestPauseMs, Math.max(limits.shortestPauseMs, wanted));
  const paused = { ...idle, failures, pausedUntilMs: nowMs + pauseMs, waiting: [] };
  return { model: paused, pauseMs, skipped: model.waiting };
}

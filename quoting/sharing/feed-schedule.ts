/** Who reads the sources of a chain for all, as Redis says; `unknown` also while nobody does who should. */
export type Reader = 'own' | 'other' | 'unknown';

/** What happened. A digest names the overrides that hold; null: none. `time`: nothing but that time passed. */
export type SharedFeedEvent =
  | { readonly kind: 'reader'; readonly reader: Reader }
  | { readonly kind: 'frame' | 'published'; readonly digest: string | null }
  | { readonly kind: 'message' | 'time' };

/** All times are of one clock, milliseconds. */
export interface SharedFeedState {
  readonly isReading: boolean;
  /** Since when it is not known who reads; null while it is. */
  readonly unknownSince: number | null;
  /** What was published last, and when; null before anything was. */
  readonly published: { readonly digest: string | null; readonly at: number } | null;
  /** When a change that waits is to be published; null: none waits. */
  readonly publishAt: number | null;
}

/** What to do, in this order. */
export interface SharedFeedEffects {
  /** Whether to read the sources from now on, or to let another process do so. Null: as before. */
  readonly sources: 'read' | 'rest' | null;
  /** Whether to use the message that came. */
  readonly isTaken: boolean;
  /** Whether to publish what is known; `published` follows if anything is. */
  readonly isPublishDue: boolean;
  /** When it needs a `time`; null: not. */
  readonly wakeAt: number | null;
}

/** How long a process reads for all after it last said so. */
export const LEASE_MS = 1_500;
/** How often it is to be found out who reads. All overrides are sent then, for processes that came later, too. */
export const RENEW_MS = 250;
/** Least time between two changes that are sent, unless the last overrides end. */
export const PUBLISH_MS = 80;
/** A process reads by itself after this long without Redis or a reader: not while it connects, or readers change. */
export const ALONE_AFTER_MS = 1_000;

export const NEW_SHARED_FEED: SharedFeedState = {
  isReading: false,
  unknownSince: null,
  published: null,
  publishAt: null,
};

/**
 * What the share of a process in the sources of a chain becomes, and what it has to do, when something happens.
 *
 * 1. It reads while it is the reader, and not while another process is.
 * 2. While that is unknown, a reader goes on. Any other process reads by itself after `ALONE_AFTER_MS`.
 * 3. Only a process that reads publishes, and it uses no message.
 * 4. That the last overrides ended is published at once: others quote with them until they know. Any other change is
 *    published `PUBLISH_MS` after the last message at the earliest, and at the latest if that is over.
 */
export function nextSharedFeed(
  before: SharedFeedState,
  event: SharedFeedEvent,
  now: number,
): readonly [SharedFeedState, SharedFeedEffects] {
  const state = withEvent(before, event, now);
  const isPublishDue = state.isReading && (event.kind === 'reader' || (state.publishAt ?? Infinity) <= now);
  const next = isPublishDue || !state.isReading ? { ...state, publishAt: null } : state;
  const sources = event.kind === 'reader' ? (next.isReading ? 'read' : 'rest') : null;
  return [
    next,
    { sources, isTaken: event.kind === 'message' && !next.isReading, isPublishDue, wakeAt: next.publishAt },
  ];
}

function withEvent(state: SharedFeedState, event: SharedFeedEvent, now: number): SharedFeedState {
  switch (event.kind) {
    case 'reader': {
      if (event.reader !== 'unknown') return { ...state, isReading: event.reader === 'own', unknownSince: null };
      const unknownSince = state.unknownSince ?? now;
      return { ...state, unknownSince, isReading: state.isReading || now - unknownSince >= ALONE_AFTER_MS };
    }
    case 'frame': {
      const { published, publishAt } = state;
      if (published?.digest === event.digest) return state;
      const dueAt = event.digest === null || !published ? now : published.at + PUBLISH_MS;
      return { ...state, publishAt: Math.min(publishAt ?? Infinity, dueAt) };
    }
    case 'published':
      return { ...state, published: { digest: event.digest, at: now }, publishAt: null };
    case 'message':
    case 'time':
      return state;
  }
}

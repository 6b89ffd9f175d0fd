import { Counter, type Registry } from 'prom-client';
import type { LiveSourceConfig } from '../../config/live-schema.ts';
import type { SkippedEntry } from './frame.ts';

/** Counts what becomes of the pending state of one chain. */
export interface LiveObserver {
  /**
   * Counts each frame, and each message, request or connection that brought none, by kind of the source:
   * `FrameOutcome`, `SourceFault`, or what becomes of a part.
   */
  readonly count: (kind: LiveSourceConfig['kind'], outcome: string) => void;
  /** Counts entries of frames that were skipped, of which the rest was read. */
  readonly skipped: (kind: LiveSourceConfig['kind'], entry: SkippedEntry, count: number) => void;
  /** Nodes refused or ignored the overrides. */
  readonly suspended: () => void;
  /** A pool was read after a part of a block, and in the block once that was sealed. */
  readonly sealed: (outcome: SealedOutcome) => void;
}

/**
 * Whether a pool has the same state in a sealed block as it had after the last part that was read;
 * `unseen`: more happened in the block after that part.
 */
export type SealedOutcome = 'same' | 'different' | 'unseen';

/** Registers the metrics of pending state. */
export function liveMetrics(registry: Registry): (chainId: number) => LiveObserver {
  const frames = new Counter({
    name: 'live_frames_total',
    help: 'Frames of sources of live prices, and messages or connections that brought none, by outcome',
    labelNames: ['chain', 'source', 'outcome'],
    registers: [registry],
  });
  const skipped = new Counter({
    name: 'live_skipped_entries_total',
    help: 'Entries of frames of live prices that were malformed or too many, by the kind of entry: the rest of the frame counts',
    labelNames: ['chain', 'source', 'entry'],
    registers: [registry],
  });
  const suspensions = new Counter({
    name: 'live_suspensions_total',
    help: 'How often live quotes were suspended because nodes did not read the block that is being built',
    labelNames: ['chain'],
    registers: [registry],
  });
  const sealed = new Counter({
    name: 'live_sealed_pools_total',
    help: 'Pools read after a part of a block and in the sealed block, by whether the state was the same',
    labelNames: ['chain', 'outcome'],
    registers: [registry],
  });
  return (chainId) => {
    const chain = String(chainId);
    return {
      count: (source, outcome) => frames.inc({ chain, source, outcome }),
      skipped: (source, entry, count) => skipped.inc({ chain, source, entry }, count),
      suspended: () => suspensions.inc({ chain }),
      sealed: (outcome) => sealed.inc({ chain, outcome }),
    };
  };
}

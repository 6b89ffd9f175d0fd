import { blockOverrides, isSameState, stateDiffs } from '../chain/pending-state.ts';
import type { BlockRef } from '../chain/read-context.ts';
import type { Snapshot } from './types.ts';

/** `live`: in the block that is being built; `committed`: at the last block of the chain. */
export const BASES = ['live', 'committed'] as const;
export type Basis = (typeof BASES)[number];

/** What a quote holds for. Times are Unix seconds. */
export interface QuoteBasis {
  readonly kind: Basis;
  /** The committed block. */
  readonly blockNumber: number;
  /** The block that is being built; null for a committed quote, as the fields below. */
  readonly targetBlockNumber: number | null;
  readonly targetTimestamp: number | null;
  /** How old the overrides of sources were when the quote was read, milliseconds. */
  readonly sourceAgeMs: number | null;
  /** Names of the sources that held its price then; null while it is not known which. */
  readonly sources: readonly string[] | null;
  /** Set where it holds after a part of the block: which, counted from 0; null where that is not known. */
  readonly source?: { readonly kind: 'preconfirmed'; readonly part: number | null };
}

/** What a snapshot holds for. */
export function basisOf({ block: { number, pending }, sourceAgeMs, sources }: Snapshot): QuoteBasis {
  return {
    kind: pending ? 'live' : 'committed',
    blockNumber: Number(number),
    targetBlockNumber: pending ? Number(pending.blockNumber) : null,
    targetTimestamp: pending ? Number(pending.timestamp) : null,
    sourceAgeMs: sourceAgeMs ?? null,
    sources: sources ?? null,
    ...(pending?.part && { source: { kind: 'preconfirmed', part: pending.part.index } as const }),
  };
}

/**
 * What an `eth_call` at the committed block needs to see what live quotes saw: its third parameter after the block, and
 * its fourth. Null when no quote is live, so that the call needs neither.
 *
 * @returns undefined when the quotes saw different states
 */
export function overridesOf(blocks: readonly BlockRef[]) {
  // A part is no overrides of the committed block: only a call at the tag `pending` sees it, while it is the newest.
  const live = blocks.filter(({ pending }) => pending && !pending.part);
  const [first] = live;
  if (!first?.pending) return null;
  if (live.some((block) => !isSameState(block, first))) return undefined;
  return { blockOverrides: blockOverrides(first.pending), stateOverride: stateDiffs(first.pending.overrides) };
}

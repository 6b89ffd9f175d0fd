import type { Address } from 'viem';
import type { BlockHeader } from '../../chain/read-context.ts';
import { compareQuotes, isKnown, type QuoteRead, type Sample, type Side } from './compare-quotes.ts';
import type { LiveRead } from './live-quotes.ts';
import type { QuotesRead } from './read-quotes.ts';

/** What was read of live prices when a window opened, and 200 ms and 1 s later; null: nothing. */
export interface LiveWindow {
  readonly shown: LiveRead | null;
  readonly later: readonly [LiveRead | null, LiveRead | null];
}

/** What was read at the blocks of a window, the first of which is that whose quotes were shown. */
export interface WindowReads {
  readonly blocks: readonly BlockHeader[];
  readonly reads: readonly QuotesRead[];
  readonly live: LiveWindow;
}

/**
 * Compares the quotes of one pool. Those of its block count, as a client sees them that knows no live prices; where it
 * does not trade there, its live quotes.
 *
 * @returns null when there is nothing to compare
 */
export function sampleOf(
  address: Address,
  { blocks, reads, live }: WindowReads,
  inputs: Readonly<Record<Side, readonly (bigint | null)[]>>,
): Sample | null {
  const [first, ...later] = reads.map((quotes) => quotes.get(address));
  if (first === undefined) return null;
  const isLive = first === null;
  const shown = first ?? live.shown?.quotes.get(address);
  if (!shown) return null;
  // A live quote that has not landed is no committed one, without being withdrawn.
  const afterBlocks = isLive ? later.map((quote) => quote ?? undefined) : later;
  const readAt = (number: bigint) => reads[blocks.findIndex((block) => block.number === number)];
  const liveQuotes = (read: LiveRead | null) =>
    read && (read.isOfAll || read.quotes.has(address)) ? read.quotes : undefined;
  const afterMs = live.later.map(
    (read): QuoteRead => (liveQuotes(read) ?? (read ? readAt(read.number) : undefined))?.get(address),
  );
  // Where the block after was read while it was being built, that is earlier than its end.
  const early = live.later.filter((read) => read?.number === blocks[0]?.number).find(liveQuotes);
  const next = early ? early.quotes.get(address) : afterBlocks[0];
  const sample = compareQuotes(shown, [...afterBlocks, ...afterMs], next, inputs);
  return isKnown(sample) ? sample : null;
}

import type { Address } from 'viem';
import type { BlockHeader } from '../../chain/read-context.ts';
import { compareQuotes, isKnown, type QuoteRead, type Sample, type Side } from './compare-quotes.ts';
import type { LiveQuote } from './live-quotes.ts';
import type { LiveWindow } from './live-window.ts';
import type { QuotesRead } from './read-quotes.ts';

/** What was read at the blocks of a window, the first of which is that whose quotes were shown. */
export interface WindowReads {
  readonly blocks: readonly BlockHeader[];
  readonly reads: readonly QuotesRead[];
  readonly live: LiveWindow;
}

/**
 * Compares the quotes of one pool. At blocks, those of its block count, as a client sees them that knows no live
 * prices; where it does not trade there, its live quotes. At live prices, its live quotes where there were any. Depth
 * of its block is compared with the earliest that was read of the next one.
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
  const shownLive = live.shown ? orCommitted(live.shown.quotes.get(address), first) : first;
  const block = first ?? shownLive;
  if (!block) return null;
  // A live quote that has not landed is no committed one, without being withdrawn.
  const afterBlocks = first === null ? later.map((quote) => quote ?? undefined) : later;
  const readAt = (at: bigint) => reads[blocks.findIndex(({ number }) => number === at)]?.get(address);
  const afterMs = live.later.map((read) =>
    read ? orCommitted(read.quotes.get(address), readAt(read.number)) : undefined,
  );
  // Where the block after was read while it was being built, that is earlier than its end.
  const [early] = (first ? [live.shown, ...live.later] : live.later).flatMap((read) => {
    const quote = read?.number === blocks[0]?.number ? read?.quotes.get(address) : undefined;
    return quote === undefined || quote === 'committed' ? [] : [{ quote }];
  });
  const next = early ? early.quote : afterBlocks[0];
  const sample = compareQuotes({ block, live: shownLive }, [...afterBlocks, ...afterMs], next, inputs);
  return isKnown(sample) ? sample : null;
}

const orCommitted = (quote: LiveQuote | undefined, committed: QuoteRead): QuoteRead =>
  quote === 'committed' ? committed : quote;

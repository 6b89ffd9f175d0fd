import type { PendingState } from '../../chain/pending-state.ts';
import type { MergedFrames } from './frame-merger.ts';
import { type StoredWord, valueAt, wordsOf } from './slot-map.ts';
import { type Part, usedParts } from './source-parts.ts';

/**
 * Finds the sources whose overrides have all words of a price, at their block, now.
 *
 * @param words those that the price reads; null: it is not known which
 * @returns their ids; null while it is not known whether a source has the price: where the words are not known, a
 * source has it for sure only with all overrides of the block
 */
export function holdersOf(
  { blocks }: MergedFrames,
  { blockNumber, overrides }: Pick<PendingState, 'blockNumber' | 'overrides'>,
  words: readonly StoredWord[] | null,
  { now, maxAgeMs }: { readonly now: number; readonly maxAgeMs: number },
): readonly string[] | null {
  const sources = [...(blocks.get(blockNumber)?.sources.values() ?? [])]
    .map(({ source, parts }) => ({ id: source.id, parts: usedParts(parts, now, maxAgeMs) }))
    .filter(({ parts }) => parts.length > 0);
  const isKnown = words !== null && words.length > 0;
  const compared = isKnown ? words : wordsOf(overrides);
  const holding = sources.filter(({ parts }) => compared.every((word) => holdsWord(parts, word)));
  return isKnown || holding.length === sources.length ? holding.map(({ id }) => id) : null;
}

/** Whether a source says that an account holds a word: of its venues, the one that counts there. */
const holdsWord = (parts: readonly Part[], [account, slot, word]: StoredWord): boolean =>
  parts.some(
    ({ sent, changed }) => valueAt(changed, account, slot) !== undefined && valueAt(sent, account, slot) === word,
  );

import type { Address, Hex } from 'viem';
import { type PendingState, type StateOverrides, stateDigest } from '../../chain/pending-state.ts';
import { addMissing, type MutableSlotMap, pick } from './slot-map.ts';
import { noParts, type Part, type SourceName, type SourceParts, usedParts } from './source-parts.ts';

/**
 * The merged overrides of a block that is being built, of which there is at least one. The time is from the newest of
 * the frames that say; null where none does. `receivedAt` is when the oldest frame arrived whose overrides are in it.
 */
export type PendingOverrides = Omit<PendingState, 'timestamp'> & { readonly timestamp: bigint | null };

/** By the ids of sources. */
type Sources = ReadonlyMap<string, SourceParts>;

/** What sources sent of one block. */
export interface SourcedBlock {
  readonly blockNumber: bigint;
  readonly sources: Sources;
  /** When it was sent last, and since when no lower block was. */
  readonly sentAt: number;
  readonly aloneSince: number;
  readonly merged?: MergedBlock;
}

/** A part, and the source that sent it. */
interface SentPart {
  readonly source: SourceName;
  readonly part: Part;
}

/** What was merged last, and the result. */
interface MergedBlock {
  readonly of: Sources;
  /** The parts that were young enough: that of the newest frame first. */
  readonly parts: readonly SentPart[];
  /** Which of them have an override in the result. */
  readonly counting: readonly number[];
  readonly overrides: PendingOverrides | undefined;
}

/** A block of which nothing was sent yet. @param below the block below, as far as it is known */
export const openBlock = (blockNumber: bigint, now: number, below: SourcedBlock | undefined): SourcedBlock => ({
  blockNumber,
  sources: new Map([...(below?.sources ?? [])].map(([id, parts]) => [id, noParts(parts.source, parts)])),
  sentAt: now,
  aloneSince: now,
});

/** The block with what one source sent of it. */
export const withParts = (block: SourcedBlock, parts: SourceParts): SourcedBlock => ({
  ...block,
  sources: new Map(block.sources).set(parts.source.id, parts),
});

/**
 * Merges the overrides of a block. Where sources differ at a slot, the override that changed last counts. One that a
 * source merely repeats does not win over a newer one, but over none.
 *
 * @returns the block with the result, which is the same object as before while nothing changed, and has the same
 * `overrides` while only `receivedAt` did; undefined without overrides
 */
export function mergeBlock(block: SourcedBlock, now: number, maxAgeMs: number): SourcedBlock {
  const { sources, merged } = block;
  const before = merged?.overrides;
  if (merged?.of === sources && !(before && now - before.receivedAt > maxAgeMs)) return block;
  const parts = partsOf(sources, now, maxAgeMs);
  // Most frames repeat the one before.
  const isRepeated = merged !== undefined && isRepeatOf(merged.parts, parts);
  const { counting, content } = isRepeated
    ? { counting: merged.counting, content: before }
    : merge(block.blockNumber, parts);
  const receivedAt = Math.min(...counting.flatMap((index) => parts[index]?.part.receivedAt ?? []));
  const overrides = content?.digest === before?.digest ? before : content;
  return { ...block, merged: { of: sources, parts, counting, overrides: overrides && { ...overrides, receivedAt } } };
}

function partsOf(sources: Sources, now: number, maxAgeMs: number): readonly SentPart[] {
  const parts = [...sources.values()].flatMap(({ source, parts: sent }) =>
    usedParts(sent, now, maxAgeMs).map((part) => ({ source, part })),
  );
  return parts.sort((one, other) => other.part.order - one.part.order);
}

/** Whether parts differ from those before at most by when they were sent. */
const isRepeatOf = (before: readonly SentPart[], parts: readonly SentPart[]): boolean =>
  before.length === parts.length &&
  before.every(({ source, part }, index) => {
    const other = parts[index];
    return (
      other?.source === source &&
      other.part.venue === part.venue &&
      other.part.timestamp === part.timestamp &&
      other.part.sent === part.sent &&
      other.part.changed === part.changed
    );
  });

/** Merges parts, that of the newest frame first. @returns which of them count, and the result without its age */
function merge(
  blockNumber: bigint,
  sent: readonly SentPart[],
): { readonly counting: readonly number[]; readonly content?: Omit<PendingOverrides, 'receivedAt'> } {
  const overrides: MutableSlotMap<Hex> = new Map();
  const newest = newestOverrides(sent.map(({ part }) => part));
  const counting = newest.flatMap((each, index) => (addMissing(overrides, each.overrides) ? index : []));
  if (counting.length === 0) return { counting };
  const timestamps = counting.map((index) => sent[index]?.part.timestamp);
  const timestamp = timestamps.find((each) => each !== null) ?? null;
  const republishing = sent.filter(({ source }) => source.republish === true);
  const republished = republishedOf(
    republishing.length === sent.length ? newest : newestOverrides(republishing.map(({ part }) => part)),
  );
  const content = { blockNumber, timestamp, overrides, republished };
  return { counting, content: { ...content, digest: digestOf(content) } };
}

/** By venue, the newest first; undefined without any. */
function republishedOf(newest: ReturnType<typeof newestOverrides>): PendingOverrides['republished'] {
  const republished = new Map<Address, MutableSlotMap<Hex>>();
  for (const { part, overrides } of newest) {
    const ofVenue: MutableSlotMap<Hex> = republished.get(part.venue) ?? new Map();
    if (addMissing(ofVenue, overrides)) republished.set(part.venue, ofVenue);
  }
  return republished.size > 0 ? republished : undefined;
}

/**
 * Finds which overrides of each part count: those that are, at their slots, what changed last. Equal overrides count
 * together.
 */
function newestOverrides(
  parts: readonly Part[],
): readonly { readonly part: Part; readonly overrides: StateOverrides }[] {
  const newest: MutableSlotMap<{ readonly order: number; readonly word: Hex | undefined }> = new Map();
  for (const { sent, changed } of parts) {
    for (const [account, slots] of changed) {
      const [overrides, counting] = [sent.get(account), newest.get(account) ?? new Map()];
      newest.set(account, counting);
      for (const [slot, order] of slots) {
        if (order > (counting.get(slot)?.order ?? 0)) counting.set(slot, { order, word: overrides?.get(slot) });
      }
    }
  }
  return parts.map((part) => {
    const counts = (word: Hex, account: Address, slot: Hex) =>
      part.changed.get(account)?.has(slot) === true && newest.get(account)?.get(slot)?.word === word;
    return { part, overrides: pick(part.sent, counts) };
  });
}

function digestOf({
  blockNumber,
  timestamp,
  overrides,
  republished,
}: Omit<PendingOverrides, 'digest' | 'receivedAt'>): string {
  const venues = [...(republished ?? [])].map(([venue, ofVenue]) => `${venue}\n${linesOf(ofVenue)}`).sort();
  const text = [blockNumber, timestamp, linesOf(overrides), ...venues].join('\n\n');
  return stateDigest(text);
}

/** The same text for the same overrides, in whatever order they are. */
const linesOf = (overrides: StateOverrides): string =>
  [...overrides]
    .flatMap(([account, slots]) => [...slots].map(([slot, word]) => `${account} ${slot} ${word}`))
    .sort()
    .join('\n');

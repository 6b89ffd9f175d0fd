import type { Address, Hex } from 'viem';
import { type PendingState, type StateOverrides, stateDigest } from '../../chain/pending-state.ts';
import { addMissing, type MutableSlotMap, pick } from './slot-map.ts';
import { noParts, type Part, type SourceParts, usedParts } from './source-parts.ts';

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
  /** What its sources were when they were merged last, and the result. */
  readonly merged?: { readonly of: Sources; readonly overrides: PendingOverrides | undefined };
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
  const used = sources.values().map((each) => ({ ...each, parts: usedParts(each.parts, now, maxAgeMs) }));
  const overrides = merge(block.blockNumber, [...used]);
  const isSame = overrides !== undefined && overrides.digest === before?.digest;
  return {
    ...block,
    merged: { of: sources, overrides: isSame ? { ...before, receivedAt: overrides.receivedAt } : overrides },
  };
}

function merge(blockNumber: bigint, sources: readonly SourceParts[]): PendingOverrides | undefined {
  const overrides: MutableSlotMap<Hex> = new Map();
  const newest = newestOverrides(partsOf(sources));
  const used = newest.flatMap((each) => (addMissing(overrides, each.overrides) ? each.part : []));
  if (used.length === 0) return undefined;
  const receivedAt = Math.min(...used.map((part) => part.receivedAt));
  const timestamp = used.find((part) => part.timestamp !== null)?.timestamp ?? null;
  const republishing = sources.filter(({ source }) => source.republish === true);
  const republished = republishedOf(
    republishing.length === sources.length ? newest : newestOverrides(partsOf(republishing)),
  );
  const content = { blockNumber, timestamp, overrides, republished };
  return { ...content, digest: digestOf(content), receivedAt };
}

const partsOf = (sources: readonly SourceParts[]): readonly Part[] => sources.flatMap(({ parts }) => parts);

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
 * together. The part of the newest frame comes first.
 */
function newestOverrides(
  parts: readonly Part[],
): readonly { readonly part: Part; readonly overrides: StateOverrides }[] {
  const ordered = parts.toSorted((one, other) => other.order - one.order);
  const newest: MutableSlotMap<{ readonly order: number; readonly word: Hex | undefined }> = new Map();
  for (const { sent, changed } of ordered) {
    for (const [account, slots] of changed) {
      const [overrides, counting] = [sent.get(account), newest.get(account) ?? new Map()];
      newest.set(account, counting);
      for (const [slot, order] of slots) {
        if (order > (counting.get(slot)?.order ?? 0)) counting.set(slot, { order, word: overrides?.get(slot) });
      }
    }
  }
  return ordered.map((part) => {
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

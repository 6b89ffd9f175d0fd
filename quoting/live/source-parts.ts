import type { Address, Hex } from 'viem';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { BOUNDS, type Frame, slotCount } from './frame.ts';
import {
  addMissing,
  forEachShared,
  isSameMap,
  type MutableSlotMap,
  pick,
  type SlotMap,
  setAt,
  valueAt,
} from './slot-map.ts';

/** One venue's overrides, as a source last sent them. */
export interface Part {
  readonly venue: Address;
  readonly sent: StateOverrides;
  /** Of each override that counts, the number of the frame that changed it. */
  readonly changed: SlotMap<number>;
  readonly timestamp: bigint | null;
  readonly receivedAt: number;
  /** Number of its frame: frames count from 1 as they arrive. */
  readonly order: number;
}

/** How processes name a source to each other: `id` is the same where it is configured alike. */
export interface SourceName {
  readonly id: string;
  /** Whether its overrides may be passed on. */
  readonly republish?: boolean | undefined;
}

/** What a source sent of one block. */
export interface SourceParts {
  readonly source: SourceName;
  /** Of lower blocks, to tell what is repeated. */
  readonly earlier: readonly Part[];
  /** Those that were renewed longest ago first. */
  readonly parts: readonly Part[];
  /** Whether the source sent a frame of this block. */
  readonly isHeard: boolean;
}

/** A frame, its number, and when it arrived. */
export interface ArrivedFrame extends Pick<Part, 'receivedAt' | 'order'> {
  readonly frame: Frame;
  /** What its source sent of the block below until now. */
  readonly below: SourceParts | undefined;
}

/** An override that counts, and the number of the frame that changed it. */
interface ChangedWord {
  readonly word: Hex;
  readonly order: number;
}

/** Nothing of a block yet. @param below what the source sent of the block below */
export const noParts = (source: SourceName, below?: SourceParts): SourceParts => ({
  source,
  earlier: below ? withinBounds([...lastParts(below).values()]) : [],
  parts: [],
  isHeard: false,
});

/** The parts that are young enough to be used. */
export const usedParts = (parts: readonly Part[], now: number, maxAgeMs: number): readonly Part[] =>
  parts.filter(({ receivedAt }) => now - receivedAt <= maxAgeMs);

/**
 * What a source sent of a block, with one more frame, in time that is linear in the overrides that are kept.
 *
 * Invariants:
 * 1. A frame replaces all overrides that were sent of its venues, and of all other venues if it is complete.
 * 2. Where venues differ at a slot, the override that changed last counts; of one frame,
 *    that of the venue that it names first.
 * 3. An override in whose place another one counts does so again only when its venue changes it, or the other one
 *    becomes equal: a venue that repeats an older one does not win, not even after the end of the newer one.
 * 4. What a venue repeats is the same object as before.
 */
export function nextParts(before: SourceParts, arrived: ArrivedFrame, maxAgeMs: number): SourceParts {
  const { frame, below, receivedAt, order } = arrived;
  const { timestamp, venues, isComplete } = frame;
  const last = lastParts(before, below);
  const kept = isComplete ? [] : before.parts.filter(({ venue }) => !venues.has(venue));
  const counting = countingAt(venues, usedParts(kept, receivedAt, maxAgeMs));
  const parts = [...venues].toReversed().map(([venue, sent]): Part => {
    const before = last.get(venue);
    const changed = count({ sent, last: before, order }, counting);
    return {
      receivedAt,
      order,
      venue,
      timestamp,
      sent: asBefore(sent, before?.sent),
      changed: asBefore(changed, before?.changed),
    };
  });
  const all = withinBounds([...kept, ...parts.toReversed()]).map((part) => withoutReplaced(part, counting));
  return { ...before, parts: all, isHeard: true };
}

/** A map, as the same object as before if it has the same values: what is made of it need not be made again. */
const asBefore = <T>(map: SlotMap<T>, before: SlotMap<T> | undefined): SlotMap<T> =>
  before && isSameMap(map, before) ? before : map;

/** The overrides of other venues that count at the slots of a frame. */
function countingAt(venues: Frame['venues'], others: readonly Part[]): MutableSlotMap<ChangedWord> {
  const slots: MutableSlotMap<Hex> = new Map();
  for (const overrides of venues.values()) addMissing(slots, overrides);
  const counting: MutableSlotMap<ChangedWord> = new Map();
  for (const { sent, changed } of others) {
    forEachShared(changed, slots, (order, account, slot) => {
      const word = valueAt(sent, account, slot);
      if (word !== undefined) setAt(counting, { word, order }, account, slot);
    });
  }
  return counting;
}

/** What each venue sent last, of this block or of a lower one. */
function lastParts({ earlier, parts }: SourceParts, below?: SourceParts): ReadonlyMap<Address, Part> {
  return new Map([...earlier, ...(below?.parts ?? []), ...parts].map((part) => [part.venue, part]));
}

/**
 * Finds which overrides of a venue count, and adds them to those that do.
 *
 * @param last what the venue had before
 * @returns the number of the frame that changed each
 */
function count(
  { sent, last, order }: Pick<Part, 'sent' | 'order'> & { readonly last: Part | undefined },
  counting: MutableSlotMap<ChangedWord>,
): SlotMap<number> {
  const changed: MutableSlotMap<number> = new Map();
  for (const [account, slots] of sent) {
    for (const [slot, word] of slots) {
      const isRepeated = last !== undefined && valueAt(last.sent, account, slot) === word;
      const other = valueAt(counting, account, slot);
      const same = other?.word === word ? other.order : undefined;
      const changedAt = isRepeated ? (valueAt(last.changed, account, slot) ?? same) : order;
      if (changedAt === undefined || (other && other.word !== word && other.order > changedAt)) continue;
      setAt(changed, changedAt, account, slot);
      setAt(counting, { word, order: changedAt }, account, slot);
    }
  }
  return changed;
}

/** A part of which overrides do not count any more in whose place others do. */
function withoutReplaced(part: Part, counting: SlotMap<ChangedWord>): Part {
  const isReplaced = (account: Address, slot: Hex): boolean => {
    const other = valueAt(counting, account, slot);
    return other !== undefined && other.word !== valueAt(part.sent, account, slot);
  };
  let hasReplaced = false;
  forEachShared(part.changed, counting, (_, account, slot) => {
    hasReplaced ||= isReplaced(account, slot);
  });
  return hasReplaced
    ? { ...part, changed: pick(part.changed, (_, account, slot) => !isReplaced(account, slot)) }
    : part;
}

/** Leaves out the parts that come first until the rest is as small as one frame. */
function withinBounds(parts: readonly Part[]): readonly Part[] {
  let overrides = 0;
  const last = parts.findLastIndex(({ sent }) => {
    overrides += slotCount(sent);
    return overrides > BOUNDS.overrides;
  });
  return parts.slice(last + 1).slice(-BOUNDS.venues);
}

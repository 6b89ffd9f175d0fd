import type { Address, Hex } from 'viem';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { BOUNDS, type Frame, slotCount } from './frame.ts';
import { addMissing, forEachShared, type MutableSlotMap, pick, type SlotMap, setAt, valueAt } from './slot-map.ts';

/** One venue's overrides, as a source last sent them. */
export interface Part {
  readonly venue: Address;
  readonly sent: StateOverrides;
  /** Of each word that counts, the number of the frame that changed it. */
  readonly changed: SlotMap<number>;
  readonly timestamp: bigint | null;
  readonly receivedAt: number;
  /** Number of its frame: frames count from 1 as they arrive. */
  readonly order: number;
}

/** A word that counts, and the number of the frame that changed it. */
interface ChangedWord {
  readonly word: Hex;
  readonly order: number;
}

/**
 * What a source sent of one block. Does no I/O.
 *
 * Invariants:
 * 1. A frame replaces all overrides that were sent of its venues, and of all other venues if it is complete.
 * 2. Where venues differ at a slot, the word that changed last counts; of one frame, that of the venue that it names first.
 * 3. A word in whose place another one counts does so again only when its venue changes it, or the other one becomes equal:
 *    a venue that repeats an older word does not win, not even after the end of the newer one.
 */
export class SourceParts {
  readonly #isOld: (receivedAt: number) => boolean;
  /** Of lower blocks, to tell what is repeated. */
  readonly #earlier: readonly Part[];
  /** Those that were renewed longest ago first. */
  #parts: readonly Part[] = [];
  /** Whether the source sent a frame of this block. */
  isHeard = false;

  /**
   * @param isOld whether what arrived then is not used any more
   * @param below what the source sent of the block below
   */
  constructor(isOld: (receivedAt: number) => boolean, below?: SourceParts) {
    this.#isOld = isOld;
    this.#earlier = below ? withinBounds([...below.#last().values()]) : [];
  }

  /** Those that are used. */
  get used(): readonly Part[] {
    return this.#parts.filter(({ receivedAt }) => !this.#isOld(receivedAt));
  }

  /**
   * Takes a frame, in time that is linear in the overrides that are kept.
   *
   * @param below what the source sent of the block below until now
   */
  take(frame: Frame, sent: Pick<Part, 'receivedAt' | 'order'>, below: SourceParts | undefined): void {
    const { timestamp, venues, isComplete } = frame;
    this.isHeard = true;
    const last = this.#last(below);
    const kept = isComplete ? [] : this.#parts.filter(({ venue }) => !venues.has(venue));
    const slots: MutableSlotMap<Hex> = new Map();
    for (const overrides of venues.values()) addMissing(slots, overrides);
    /** At the slots of the frame. */
    const counting: MutableSlotMap<ChangedWord> = new Map();
    for (const { sent: overrides, changed, receivedAt } of kept) {
      if (this.#isOld(receivedAt)) continue;
      forEachShared(changed, slots, (order, account, slot) => {
        const word = valueAt(overrides, account, slot);
        if (word !== undefined) setAt(counting, { word, order }, account, slot);
      });
    }
    const parts = [...venues].toReversed().map(([venue, overrides]): Part => {
      const changed = count(overrides, last.get(venue), sent.order, counting);
      return { ...sent, venue, timestamp, sent: overrides, changed };
    });
    this.#parts = withinBounds([...kept, ...parts.toReversed()]).map((part) => withoutReplaced(part, counting));
  }

  /** Takes what another process knows of the source, in place of all that it sent of this block. */
  replace(parts: readonly Part[]): void {
    this.isHeard = true;
    this.#parts = parts;
  }

  /** What each venue sent last, of this block or of a lower one. */
  #last(below?: SourceParts): ReadonlyMap<Address, Part> {
    const parts = [...this.#earlier, ...(below ? below.#parts : []), ...this.#parts];
    return new Map(parts.map((part) => [part.venue, part]));
  }
}

/**
 * Finds which overrides of a venue count, and adds them to those that do.
 *
 * @param last what the venue had before
 * @returns the number of the frame that changed each
 */
function count(
  overrides: StateOverrides,
  last: Part | undefined,
  order: number,
  counting: MutableSlotMap<ChangedWord>,
): SlotMap<number> {
  const changed: MutableSlotMap<number> = new Map();
  for (const [account, slots] of overrides) {
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

import type { Hex } from 'viem';
import { type MutableSlotMap, type SlotMap, setAt, valueAt } from './slot-map.ts';
import type { Part } from './source-parts.ts';

/** A venue's overrides, as a source last sent them. */
export interface SharedPart extends Pick<Part, 'venue' | 'timestamp' | 'order'> {
  /** Each with the number of the frame that changed it; 0 if it does not count. */
  readonly overrides: SlotMap<readonly [value: Hex, order: number]>;
  readonly ageMs: number;
}

/** All that a source says of a block. Without overrides, it says that nothing has a live price. */
export interface SharedSource<S> {
  readonly source: S;
  readonly parts: readonly SharedPart[];
}

/** What is known of a block that may be built. */
export interface SharedBlock<S> {
  readonly blockNumber: bigint;
  /** How long ago it was sent last, and since when no lower one was, milliseconds. */
  readonly ageMs: number;
  readonly aloneMs: number;
  /** The sources that sent frames of this block: what was known of others is not contradicted. */
  readonly sources: readonly SharedSource<S>[];
}

/**
 * What the process that reads the sources of a chain lets the others know. Ages count from when it is made,
 * and frames from 1.
 *
 * @typeParam S names a source
 */
export type SharedOverrides<S> = readonly SharedBlock<S>[];

/** Numbers frames from 1 in their order. */
export function rankFrames(parts: readonly Part[]): ReadonlyMap<number, number> {
  const orders = new Set(parts.map(({ order }) => order));
  for (const { changed } of parts)
    for (const slots of changed.values()) for (const order of slots.values()) orders.add(order);
  return new Map([...orders].sort((one, other) => one - other).map((order, index) => [order, index + 1]));
}

/** @param ranks as {@link rankFrames} gives them */
export function toShared(part: Part, now: number, ranks: ReadonlyMap<number, number>): SharedPart {
  const { venue, sent, changed, timestamp, receivedAt } = part;
  const rankOf = (order: number | undefined) => ranks.get(order ?? 0) ?? 0;
  const overrides: MutableSlotMap<readonly [Hex, number]> = new Map();
  for (const [account, slots] of sent) {
    for (const [slot, word] of slots) setAt(overrides, [word, rankOf(valueAt(changed, account, slot))], account, slot);
  }
  return { venue, overrides, timestamp, ageMs: now - receivedAt, order: rankOf(part.order) };
}

/** @param frames how many came before those that are shared */
export function fromShared({ overrides, ageMs, order, ...part }: SharedPart, now: number, frames: number): Part {
  const sent: MutableSlotMap<Hex> = new Map();
  const changed: MutableSlotMap<number> = new Map();
  for (const [account, slots] of overrides) {
    for (const [slot, [word, changedBy]] of slots) {
      setAt(sent, word, account, slot);
      if (changedBy > 0) setAt(changed, frames + changedBy, account, slot);
    }
  }
  return { ...part, sent, changed, receivedAt: now - ageMs, order: frames + order };
}

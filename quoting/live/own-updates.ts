import { createHash } from 'node:crypto';
import type { Address, Hex } from 'viem';
import type { StateOverrides, TargetBlock } from '../../chain/pending-state.ts';
import type { OwnUpdate } from './own-update.ts';

/** The newest update of a sender's uuid, and what is known of it. */
export interface OwnSlot {
  /** Stands for sender and uuid. */
  readonly venue: Address;
  update: OwnUpdate;
  /** When the update came, milliseconds of the source's clock. */
  receivedAt: number;
  /** Hash of the head at which the update was traced last. */
  tracedAt: Hex | undefined;
  /** A trace that failed is repeated from then on. */
  retryAt: number;
  /** The block that it was traced for last. */
  target: TargetBlock | undefined;
  /** What the update writes after this head; or, until it is traced, what the one that it replaced does there. */
  written: { readonly hash: Hex; readonly overrides: StateOverrides } | undefined;
}

export interface OwnSender {
  /** By uuid, those that wait for a trace the longest first. */
  readonly slots: Map<string, OwnSlot>;
  /** One trace at a time, so that overrides of a newer update come later. */
  isTracing: boolean;
}

/** Bounds of what is kept: 64 MiB of transactions. Beyond one, the oldest is left out. */
export const OWN_BOUNDS = {
  senders: 64,
  /** Of one sender. */
  uuids: 64,
  /** Of all transactions of one sender. */
  characters: 1_048_576,
  ageMs: 120_000,
} as const;

/** The newest update of each sender and uuid, within {@link OWN_BOUNDS}. Does no I/O. */
export class OwnUpdates {
  /** Those that wait for a trace the longest first. */
  readonly #senders = new Map<string, OwnSender>();

  get isEmpty(): boolean {
    return this.#senders.size === 0;
  }

  /** Takes an update. @returns whether it is newer than what is known */
  take(update: OwnUpdate, now: number): boolean {
    const { sender: name, uuid } = update;
    const sender = this.#senders.get(name) ?? { slots: new Map<string, OwnSlot>(), isTracing: false };
    const known = sender.slots.get(uuid);
    if (known && known.update.seq >= update.seq) return false;
    // An update that waits for a trace gives its place to a newer one.
    if (known?.tracedAt) sender.slots.delete(uuid);
    const slot = Object.assign(known ?? { venue: venueOf(update), target: undefined, written: undefined }, {
      update,
      receivedAt: now,
      tracedAt: undefined,
      retryAt: 0,
    });
    if (slot.target && !isGoodFor(update, slot.target)) slot.written = undefined;
    sender.slots.set(uuid, slot);
    leaveOut(sender.slots, ({ size }) => size > OWN_BOUNDS.uuids);
    leaveOut(sender.slots, (slots) => charactersOf(slots) > OWN_BOUNDS.characters);
    this.#senders.set(name, sender);
    leaveOut(this.#senders, ({ size }) => size > OWN_BOUNDS.senders);
    return true;
  }

  /** Leaves out what is not good for this block or any after it, or too old. */
  expire({ blockNumber }: TargetBlock, now: number): void {
    for (const [name, { slots }] of this.#senders) {
      for (const [uuid, { update, receivedAt }] of slots) {
        const isPast = update.tx !== '0x' && update.untilBlock < blockNumber;
        if (isPast || now - receivedAt > OWN_BOUNDS.ageMs) slots.delete(uuid);
      }
      if (slots.size === 0) this.#senders.delete(name);
    }
  }

  /** The next update to trace at a head: senders take turns. */
  next(
    hash: Hex,
    target: TargetBlock,
    now: number,
  ): { readonly sender: OwnSender; readonly slot: OwnSlot } | undefined {
    for (const [name, sender] of this.#senders) {
      if (sender.isTracing) continue;
      const slot = sender.slots
        .values()
        .find((it) => it.tracedAt !== hash && now >= it.retryAt && isGoodFor(it.update, target));
      if (!slot) continue;
      this.#senders.delete(name);
      this.#senders.set(name, sender);
      slot.target = target;
      return { sender, slot };
    }
    return undefined;
  }

  /** Takes what a trace at a head found that an update writes. Another update may have replaced it since. */
  settle(slot: OwnSlot, update: OwnUpdate, hash: Hex, overrides: StateOverrides | undefined): void {
    if (slot.update === update) slot.tracedAt = hash;
    const isGood = slot.target !== undefined && isGoodFor(slot.update, slot.target);
    slot.written = overrides?.size && isGood ? { hash, overrides } : undefined;
  }

  /** The overrides by venue that were traced at a head. */
  overrides(hash: Hex): Map<Address, StateOverrides> {
    const slots = this.#senders.values().flatMap((sender) => sender.slots.values());
    return new Map(
      slots.flatMap(({ venue, written }) => (written?.hash === hash ? [[venue, written.overrides] as const] : [])),
    );
  }
}

/** Whether an update is good for a block, which one that cancels never is. */
export function isGoodFor(
  { tx, fromBlock, untilBlock, untilSecs }: OwnUpdate,
  { blockNumber, timestamp }: TargetBlock,
): boolean {
  const isInTime = untilSecs === undefined || timestamp <= untilSecs;
  return tx !== '0x' && fromBlock <= blockNumber && blockNumber <= untilBlock && isInTime;
}

/** Stands for the sender and uuid of an update. */
export function venueOf({ sender, uuid }: OwnUpdate): Address {
  return `0x${createHash('sha256').update(`${uuid} ${sender}`).digest('hex').slice(0, 40)}`;
}

const charactersOf = (slots: ReadonlyMap<string, OwnSlot>): number =>
  slots.values().reduce((sum, { update }) => sum + update.tx.length, 0);

/** Removes the first entries while there are too many. */
function leaveOut<K, V>(map: Map<K, V>, isTooMany: (map: Map<K, V>) => boolean): void {
  for (const key of map.keys()) {
    if (!isTooMany(map)) return;
    map.delete(key);
  }
}

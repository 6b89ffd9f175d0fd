import { createHash } from 'node:crypto';
import type { Address, Hex } from 'viem';
import type { StateOverrides, TargetBlock } from '../../chain/pending-state.ts';
import type { OwnUpdate } from './own-update.ts';

/** The newest update of a sender's uuid, and what is known of it. */
interface OwnSlot {
  /** Stands for sender and uuid. */
  readonly venue: Address;
  readonly update: OwnUpdate;
  /** When the update came. */
  readonly receivedAt: number;
  /** Hash of the head at which the update was traced last. */
  readonly tracedAt: Hex | undefined;
  /** A trace that failed is repeated from then on. */
  readonly retryAt: number;
  /** The block that it was traced for last. */
  readonly target: TargetBlock | undefined;
  /** What the update writes after this head; or, until it is traced, what the one that it replaced does there. */
  readonly written: { readonly hash: Hex; readonly overrides: StateOverrides } | undefined;
}

export interface OwnSender {
  /** By uuid, those that wait for a trace the longest first. */
  readonly slots: ReadonlyMap<string, OwnSlot>;
  /** The update that is being traced: one at a time, so that overrides of a newer one come later. */
  readonly tracing: OwnUpdate | undefined;
}

/** By name, those that wait for a trace the longest first. */
export type OwnSenders = ReadonlyMap<string, OwnSender>;

/** A trace of an update at a head. */
export interface OwnTrace {
  readonly venue: Address;
  readonly update: OwnUpdate;
  readonly hash: Hex;
  readonly target: TargetBlock;
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

/**
 * The newest update of each sender and uuid, within {@link OWN_BOUNDS}.
 *
 * @returns the same object for one that is not newer
 */
export function withUpdate(senders: OwnSenders, update: OwnUpdate, now: number): OwnSenders {
  const { sender: name, uuid } = update;
  const sender = senders.get(name) ?? { slots: new Map<string, OwnSlot>(), tracing: undefined };
  const before = sender.slots.get(uuid);
  const known = before && now - before.receivedAt <= OWN_BOUNDS.ageMs ? before : undefined;
  if (known && known.update.seq >= update.seq) return senders;
  const { venue, target, written } = known ?? { venue: venueOf(update), target: undefined, written: undefined };
  const holds = !target || isGoodFor(update, target);
  const slots = new Map(sender.slots);
  // An update that waits for a trace gives its place to a newer one.
  if (known?.tracedAt) slots.delete(uuid);
  const waiting = { tracedAt: undefined, retryAt: 0, target, written: holds ? written : undefined };
  slots.set(uuid, { ...waiting, venue, update, receivedAt: now });
  leaveOut(slots, ({ size }) => size > OWN_BOUNDS.uuids);
  leaveOut(slots, (kept) => charactersOf(kept) > OWN_BOUNDS.characters);
  const all = new Map(senders).set(name, { ...sender, slots });
  leaveOut(all, ({ size }) => size > OWN_BOUNDS.senders);
  return all;
}

/**
 * Leaves out what is not good for this block or any after it, or too old.
 *
 * @returns the same object if that is nothing
 */
export function withoutExpired(senders: OwnSenders, { blockNumber }: TargetBlock, now: number): OwnSenders {
  const isExpired = ({ update, receivedAt }: OwnSlot) =>
    (update.tx !== '0x' && update.untilBlock < blockNumber) || now - receivedAt > OWN_BOUNDS.ageMs;
  if (!senders.values().some(({ slots }) => slots.values().some(isExpired))) return senders;
  const kept = [...senders].map(([name, { slots, tracing }]): [string, OwnSender] => {
    return [name, { slots: new Map([...slots].filter(([, slot]) => !isExpired(slot))), tracing }];
  });
  return new Map(kept.filter(([, { slots }]) => slots.size > 0));
}

/** Begins the next trace at a head: senders take turns. @returns undefined if none waits */
export function beginTrace(
  senders: OwnSenders,
  hash: Hex,
  target: TargetBlock,
  now: number,
): { readonly senders: OwnSenders; readonly trace: OwnTrace } | undefined {
  for (const [name, { slots, tracing }] of senders) {
    if (tracing) continue;
    const slot = slots.values().find((it) => it.tracedAt !== hash && now >= it.retryAt && isGoodFor(it.update, target));
    if (!slot) continue;
    const { venue, update } = slot;
    const others = [...senders].filter(([other]) => other !== name);
    const sender = { slots: new Map(slots).set(update.uuid, { ...slot, target }), tracing: update };
    return { senders: new Map([...others, [name, sender]]), trace: { venue, update, hash, target } };
  }
  return undefined;
}

/** Takes what a trace found that an update writes. Another update may have replaced it since. */
export const withTraced = (senders: OwnSenders, trace: OwnTrace, overrides: StateOverrides | undefined): OwnSenders =>
  endTrace(senders, trace, (slot) => ({
    ...slot,
    tracedAt: slot.update === trace.update ? trace.hash : slot.tracedAt,
    written:
      overrides?.size && slot.target && isGoodFor(slot.update, slot.target)
        ? { hash: trace.hash, overrides }
        : undefined,
  }));

/** Takes that a trace failed: it is repeated from `retryAt` on. */
export const withFailedTrace = (senders: OwnSenders, trace: OwnTrace, retryAt: number): OwnSenders =>
  endTrace(senders, trace, (slot) => (slot.update === trace.update ? { ...slot, retryAt } : slot));

function endTrace(senders: OwnSenders, { update }: OwnTrace, settle: (slot: OwnSlot) => OwnSlot): OwnSenders {
  const sender = senders.get(update.sender);
  // It was left out, and may have come again.
  if (sender?.tracing !== update) return senders;
  const slot = sender.slots.get(update.uuid);
  const slots = slot ? new Map(sender.slots).set(update.uuid, settle(slot)) : sender.slots;
  return new Map(senders).set(update.sender, { slots, tracing: undefined });
}

/** The overrides by venue that were traced at a head. */
export function writtenAt(senders: OwnSenders, hash: Hex): ReadonlyMap<Address, StateOverrides> {
  const slots = senders.values().flatMap((sender) => sender.slots.values());
  return new Map(
    slots.flatMap(({ venue, written }) => (written?.hash === hash ? [[venue, written.overrides] as const] : [])),
  );
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

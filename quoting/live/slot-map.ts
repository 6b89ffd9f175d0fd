import type { Address, Hex } from 'viem';

/** Values by account, then by slot. */
export type SlotMap<T> = ReadonlyMap<Address, ReadonlyMap<Hex, T>>;
export type MutableSlotMap<T> = Map<Address, Map<Hex, T>>;

/** A word at a slot of an account. */
export type StoredWord = readonly [account: Address, slot: Hex, word: Hex];

/** All words of a map. */
export const wordsOf = (map: SlotMap<Hex>): readonly StoredWord[] =>
  [...map].flatMap(([account, slots]) => [...slots].map(([slot, word]): StoredWord => [account, slot, word]));

export const valueAt = <T>(map: SlotMap<T>, account: Address, slot: Hex): T | undefined => map.get(account)?.get(slot);

export function setAt<T>(map: MutableSlotMap<T>, value: T, account: Address, slot: Hex): void {
  const slots = map.get(account);
  if (slots) slots.set(slot, value);
  else map.set(account, new Map([[slot, value]]));
}

/** Whether two maps have the same values at the same slots. */
export function isSameMap<T>(one: SlotMap<T>, other: SlotMap<T>): boolean {
  if (one === other) return true;
  if (one.size !== other.size) return false;
  for (const [account, slots] of one) {
    const others = other.get(account);
    if (others?.size !== slots.size) return false;
    for (const [slot, value] of slots) if (others.get(slot) !== value) return false;
  }
  return true;
}

/** Adds values at slots that have none yet. @returns whether there was one to add */
export function addMissing<T>(target: MutableSlotMap<T>, map: SlotMap<T>): boolean {
  let hasAdded = false;
  for (const [account, slots] of map) {
    const known = target.get(account) ?? new Map<Hex, T>();
    const before = known.size;
    for (const [slot, value] of slots) if (!known.has(slot)) known.set(slot, value);
    if (known.size === before) continue;
    target.set(account, known);
    hasAdded = true;
  }
  return hasAdded;
}

/** The values that pass. */
export function pick<T>(map: SlotMap<T>, passes: (value: T, account: Address, slot: Hex) => boolean): SlotMap<T> {
  const picked: MutableSlotMap<T> = new Map();
  for (const [account, slots] of map) {
    const some = new Map<Hex, T>();
    for (const [slot, value] of slots) if (passes(value, account, slot)) some.set(slot, value);
    if (some.size > 0) picked.set(account, some);
  }
  return picked;
}

/** Calls a function for each value whose slot the other map has as well, in time that is linear in the smaller map. */
export function forEachShared<T>(
  map: SlotMap<T>,
  other: SlotMap<unknown>,
  take: (value: T, account: Address, slot: Hex) => void,
): void {
  for (const account of (map.size < other.size ? map : other).keys()) {
    const [slots, others] = [map.get(account), other.get(account)];
    if (!slots || !others) continue;
    for (const slot of (slots.size < others.size ? slots : others).keys()) {
      const value = slots.get(slot);
      if (value !== undefined && others.has(slot)) take(value, account, slot);
    }
  }
}

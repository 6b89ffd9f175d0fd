/*
 * A row holds a list of numbers as the text of a Postgres array, `{1,2,3}`. There are two reasons:
 * 1. A swap changes a few entries. All other entries stay text, without conversion.
 * 2. Ponder copies a text at no cost, but an array element by element.
 */

/** The text form of a Postgres array of numbers. */
export function arrayLiteral(values: readonly (number | bigint | string)[]): string {
  return `{${values.join()}}`;
}

/** @throws RangeError when there is no such entry */
export function listEntry(list: string, index: number): string {
  return entryOf(entriesOf(list), index);
}

/** @throws RangeError when there is no such entry */
export function setListEntry(list: string, index: number, value: number): string {
  const entries = entriesOf(list);
  entryOf(entries, index);
  entries[index] = String(value);
  return arrayLiteral(entries);
}

/**
 * Adds amounts to some entries of a list. To an entry `NULL`, only 0 can be added.
 *
 * @throws RangeError when there is no such entry
 */
export function addToList(list: string, amounts: readonly (readonly [index: number, amount: bigint])[]): string {
  const entries = entriesOf(list);
  for (const [index, amount] of amounts) {
    const before = entryOf(entries, index);
    if (amount !== 0n) entries[index] = String(BigInt(before) + amount);
  }
  return arrayLiteral(entries);
}

const entriesOf = (list: string): string[] => list.slice(1, -1).split(',');

function entryOf(entries: readonly string[], index: number): string {
  const entry = entries[index];
  if (entry === undefined) throw new RangeError(`a list of ${entries.length} entries has none at ${index}`);
  return entry;
}

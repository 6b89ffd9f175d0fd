/*
 * A list of numbers of a row, held by Ponder as Postgres's text form of an array: `{1,2,3}`. A swap changes a few entries;
 * the others stay the text that they are, and Ponder copies a text at no cost where it copies an array deeply.
 */

/** Postgres's text form of an array of numbers. */
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
 * A list with amounts added to some entries. An entry `NULL` takes no amount but 0.
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

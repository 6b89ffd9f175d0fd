/**
 * A list of numbers of a row, held by Ponder as Postgres's text form of an array: `{1,2,3}`. A swap changes a few entries;
 * the others stay the text that they are, and Ponder copies a text for nothing where it copies an array deeply.
 */
export class NumberList {
  readonly #entries: string[];

  constructor(literal: string) {
    this.#entries = literal.slice(1, -1).split(',');
  }

  /** @throws RangeError when there is no such entry */
  at(index: number): string {
    const entry = this.#entries[index];
    if (entry === undefined) throw new RangeError(`a list of ${this.#entries.length} entries has none at ${index}`);
    return entry;
  }

  /** @throws RangeError when there is no such entry */
  set(index: number, value: number | bigint): void {
    this.at(index);
    this.#entries[index] = String(value);
  }

  /** @throws RangeError when there is no such entry */
  add(index: number, amount: bigint): void {
    const before = this.at(index);
    if (amount !== 0n) this.#entries[index] = String(BigInt(before) + amount);
  }

  toString(): string {
    return arrayLiteral(this.#entries);
  }
}

/** Postgres's text form of an array of numbers. */
export function arrayLiteral(values: readonly (number | bigint | string)[]): string {
  return `{${values.join()}}`;
}

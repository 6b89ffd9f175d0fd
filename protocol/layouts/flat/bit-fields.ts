import { type Hex, numberToHex } from 'viem';

/** One value inside a storage word. */
export interface BitField {
  readonly bits: number;
  readonly signed?: boolean;
}

/** Solidity's packing: fields from the lowest-order bits up. */
export type WordLayout<Name extends string> = Readonly<Record<Name, BitField>>;

/** Reads every field of a storage word. */
export function unpackWord<Name extends string>(layout: WordLayout<Name>, word: Hex): Record<Name, bigint> {
  let rest = BigInt(word);
  const entries = Object.entries<BitField>(layout).map(([name, { bits, signed }]) => {
    const value = signed ? BigInt.asIntN(bits, rest) : BigInt.asUintN(bits, rest);
    rest >>= BigInt(bits);
    return [name, value] as const;
  });
  return Object.fromEntries(entries) as Record<Name, bigint>;
}

/** The storage word with these values; each is cut to its field's width. */
export function packWord<Name extends string>(layout: WordLayout<Name>, values: Readonly<Record<Name, bigint>>): Hex {
  let word = 0n;
  let offset = 0n;
  for (const [name, { bits }] of Object.entries<BitField>(layout)) {
    word |= BigInt.asUintN(bits, values[name as Name]) << offset;
    offset += BigInt(bits);
  }
  return numberToHex(word, { size: 32 });
}

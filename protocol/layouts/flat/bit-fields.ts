import { type Hex, numberToHex } from 'viem';

/** One value inside a storage word: a whole number of hex digits. */
export interface BitField {
  readonly bits: number;
  readonly signed?: boolean;
}

/** Reads and writes one kind of storage word. */
export interface WordCodec<Name extends string> {
  unpack(word: Hex): Record<Name, bigint>;
  /** Each value is cut to its field's width. */
  pack(values: Readonly<Record<Name, bigint>>): Hex;
}

const WORD_DIGITS = 64;

/** A codec of words with these fields, as Solidity packs them: from the lowest-order bits up. */
export function wordCodec<Name extends string>(fields: Readonly<Record<Name, BitField>>): WordCodec<Name> {
  const names = Object.keys(fields) as Name[];
  let offset = 0;
  const placed = names.map((name) => {
    const { bits, signed = false } = fields[name];
    const field = { name, bits, signed, offset, end: WORD_DIGITS - offset / 4, digits: bits / 4 };
    offset += bits;
    return field;
  });
  return {
    // Slices of the hex text: a whole word as one bigint, shifted and masked per field, costs several times as much.
    unpack(word) {
      const text = word.slice(2).padStart(WORD_DIGITS, '0');
      const values = {} as Record<Name, bigint>;
      for (const { name, bits, signed, end, digits } of placed) {
        const value = BigInt(`0x${text.slice(end - digits, end)}`);
        values[name] = signed ? BigInt.asIntN(bits, value) : value;
      }
      return values;
    },
    pack(values) {
      const word = placed.reduce(
        (sum, field) => sum | (BigInt.asUintN(field.bits, values[field.name]) << BigInt(field.offset)),
        0n,
      );
      return numberToHex(word, { size: 32 });
    },
  };
}

import type { Hex } from 'viem';

/** One value inside a storage word: a whole number of hex digits. */
interface BitField {
  readonly bits: number;
  readonly signed?: boolean;
}

const WORD_DIGITS = 64;

/** Reads words with these fields, as Solidity packs them: from the lowest-order bits up. */
export function wordReader<Name extends string>(
  fields: Readonly<Record<Name, BitField>>,
): (word: Hex) => Record<Name, bigint> {
  const names = Object.keys(fields) as Name[];
  let end = WORD_DIGITS;
  const placed = names.map((name) => {
    const { bits, signed = false } = fields[name];
    const field = { name, bits, signed, start: end - bits / 4, end };
    end = field.start;
    return field;
  });
  // Slices of the hex text: a whole word as one bigint, shifted and masked per field, costs several times as much.
  return (word) => {
    const text = word.slice(2).padStart(WORD_DIGITS, '0');
    const values = {} as Record<Name, bigint>;
    for (const { name, bits, signed, start, end } of placed) {
      const value = BigInt(`0x${text.slice(start, end)}`);
      values[name] = signed ? BigInt.asIntN(bits, value) : value;
    }
    return values;
  };
}

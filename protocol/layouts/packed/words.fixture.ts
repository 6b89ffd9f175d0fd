import type { WordShape } from '../words.ts';

/** The word with these numbers, each cut to its field's width. */
export function writeWord<Name extends string>(shape: WordShape<Name>, values: Readonly<Record<Name, bigint>>): bigint {
  let word = 0n;
  for (const name in shape) {
    const { offset, bits } = shape[name];
    word |= BigInt.asUintN(bits, values[name]) << BigInt(offset);
  }
  return word;
}

/** The numbers of a word. Bits outside every field are ignored. */
export function readWord<Name extends string>(shape: WordShape<Name>, word: bigint): Record<Name, bigint> {
  const values = {} as Record<Name, bigint>;
  for (const name in shape) {
    const { offset, bits, signed = false } = shape[name];
    const cut = word >> BigInt(offset);
    values[name] = signed ? BigInt.asIntN(bits, cut) : BigInt.asUintN(bits, cut);
  }
  return values;
}

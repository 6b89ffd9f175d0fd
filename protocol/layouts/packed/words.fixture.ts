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

/** Where one number lies inside a word of 256 bits. */
export interface WordField {
  /** Bits below it. */
  readonly offset: number;
  readonly bits: number;
  readonly signed?: boolean;
}

/** The numbers of one kind of word, as data: which arrangement a factory's pools have is not always certain. */
export type WordShape<Name extends string> = Readonly<Record<Name, WordField>>;

/** Two numbers of 128 bits. */
export interface Halves {
  readonly high: bigint;
  readonly low: bigint;
}

const HALF_BITS = 128;

/** The numbers of a word. Bits outside every field are ignored: see {@link strayBits}. */
export function readWord<Name extends string>(shape: WordShape<Name>, word: bigint): Record<Name, bigint> {
  const values = {} as Record<Name, bigint>;
  for (const name in shape) {
    const { offset, bits, signed = false } = shape[name];
    const cut = word >> BigInt(offset);
    values[name] = signed ? BigInt.asIntN(bits, cut) : BigInt.asUintN(bits, cut);
  }
  return values;
}

/** The word with these numbers, each cut to its field's width. */
export function writeWord<Name extends string>(shape: WordShape<Name>, values: Readonly<Record<Name, bigint>>): bigint {
  let word = 0n;
  for (const name in shape) {
    const { offset, bits } = shape[name];
    word |= BigInt.asUintN(bits, values[name]) << BigInt(offset);
  }
  return word;
}

/** What of a word lies outside every field; 0 when the shape explains all of it. */
export function strayBits<Name extends string>(shape: WordShape<Name>, word: bigint): bigint {
  return word ^ writeWord(shape, readWord(shape, word));
}

export function unsignedHalves(word: bigint): Halves {
  return { high: word >> BigInt(HALF_BITS), low: BigInt.asUintN(HALF_BITS, word) };
}

export function signedHalves(word: bigint): Halves {
  return { high: BigInt.asIntN(HALF_BITS, word >> BigInt(HALF_BITS)), low: BigInt.asIntN(HALF_BITS, word) };
}

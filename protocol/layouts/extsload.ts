import { type Hex, isHex, numberToHex, toFunctionSelector } from 'viem';

/** Hex digits of one word. */
const WORD = 64;
const SELECTOR = toFunctionSelector('extsload(bytes32[])');
/** Offset of the only list, in calldata and in answers. */
const LIST_AT = numberToHex(32, { size: 32 }).slice(2);

/** Encodes `extsload(bytes32[])`, which reads storage of a pool, without viem's codec: a block needs hundreds. */
export function encodeExtsload(slots: readonly Hex[]): Hex {
  const length = numberToHex(slots.length, { size: 32 }).slice(2);
  return `${SELECTOR}${LIST_AT}${length}${slots.map((slot) => slot.slice(2)).join('')}`;
}

/**
 * Decodes the answer of `extsload`, encoded as Solidity does it.
 *
 * @returns the words, in the order of their slots
 * @throws RangeError when the answer is not a list of words
 */
export function decodeExtsload(answer: Hex): readonly Hex[] {
  const digits = answer.slice(2);
  const words = Math.floor(digits.length / WORD) - 2;
  const length = digits.slice(WORD, 2 * WORD);
  if (!isHex(answer) || !digits.startsWith(LIST_AT) || words < 0 || BigInt(`0x${length}`) > BigInt(words)) {
    throw new RangeError('an answer of extsload is no list of words');
  }
  return Array.from({ length: Number(`0x${length}`) }, (_, index): Hex => {
    const start = (2 + index) * WORD;
    return `0x${digits.slice(start, start + WORD)}`;
  });
}

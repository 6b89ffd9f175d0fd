import { LRUCache } from 'lru-cache';
import { type Hex, isHex, numberToHex, toFunctionSelector } from 'viem';
import type { PoolImmutables, StateDuty } from '../layout.ts';

/** Hex digits of one word. */
const WORD = 64;
const SELECTOR = toFunctionSelector('extsload(bytes32[])');
/** Of calldata and of answers: where the only list begins. */
const LIST_AT = numberToHex(32, { size: 32 }).slice(2);

/** Calldata for a pool that asks for storage words: `extsload(bytes32[])`. Written by hand, as hundreds are made in a block. */
export function encodeExtsload(slots: readonly Hex[]): Hex {
  const length = numberToHex(slots.length, { size: 32 }).slice(2);
  return `${SELECTOR}${LIST_AT}${length}${slots.map((slot) => slot.slice(2)).join('')}`;
}

/** Ranges of bins whose calldata are kept: pools share a few, and the longest take 17 kB. */
const KEPT_RANGES = 256;

/** The call of a pool for its whole state, made once for all pools with the same bins. */
export function stateCallOf(stateSlots: (immutables: PoolImmutables) => readonly Hex[]): StateDuty['call'] {
  const known = new LRUCache<string, ReturnType<StateDuty['call']>>({ max: KEPT_RANGES });
  return (immutables) => {
    const range = `${immutables.lowestBin} ${immutables.highestBin}`;
    const kept = known.get(range);
    if (kept) return kept;
    const slots = stateSlots(immutables);
    const call = { data: encodeExtsload(slots), words: slots.length };
    known.set(range, call);
    return call;
  };
}

/**
 * @param answer what the pool gave, encoded as Solidity does
 * @returns the words, in the order of their slots
 * @throws RangeError when it is no list of words
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

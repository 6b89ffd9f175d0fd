import { type Address, type Hex, numberToHex, toFunctionSelector } from 'viem';
import type { CallResult } from '../protocol/bounded-calls/bounded-calls.ts';

/** Hex digits of one word. */
const WORD = 64;
const WORD_BYTES = 32;
const SELECTOR = toFunctionSelector('aggregate3((address,bool,bytes)[])');
/** Bytes of a call before its calldata, and where its calldata begin: target, whether it may fail, offset. */
const CALL_HEAD = 3 * WORD_BYTES;
/** Where the only list begins, in calldata and in answers. */
const LIST_AT = word(WORD_BYTES);
const MAY_FAIL = word(1);
const CALLDATA_AT = word(CALL_HEAD);

/**
 * Encodes calldata of Multicall3's `aggregate3`, every call of which may fail. It avoids viem's codec, which took a
 * tenth of a round: hundreds of calls are made in a block.
 */
export function encodeAggregate3(calls: readonly { readonly target: Address; readonly data: Hex }[]): Hex {
  const offsets: string[] = [];
  const tuples: string[] = [];
  let offset = calls.length * WORD_BYTES;
  for (const { target, data } of calls) {
    const digits = data.slice(2);
    const padded = digits.padEnd(Math.ceil(digits.length / WORD) * WORD, '0');
    offsets.push(word(offset));
    tuples.push(target.slice(2).padStart(WORD, '0'), MAY_FAIL, CALLDATA_AT, word(digits.length / 2), padded);
    offset += CALL_HEAD + WORD_BYTES + padded.length / 2;
  }
  return `${SELECTOR}${LIST_AT}${word(calls.length)}${offsets.join('')}${tuples.join('')}`;
}

/**
 * Decodes what `aggregate3` returned, whether encoded as Solidity does it or otherwise.
 *
 * @throws RangeError when the answer is not a list of results
 */
export function decodeAggregate3(answer: Hex): CallResult[] {
  const digits = answer.slice(2);
  const listAt = numberAt(digits, 0);
  const firstAt = listAt + WORD_BYTES;
  return Array.from({ length: numberAt(digits, listAt) }, (_, index): CallResult => {
    const tupleAt = firstAt + numberAt(digits, firstAt + index * WORD_BYTES);
    const dataAt = tupleAt + numberAt(digits, tupleAt + WORD_BYTES);
    return { success: numberAt(digits, tupleAt) === 1, data: bytesAt(digits, dataAt) };
  });
}

function word(value: number): string {
  return numberToHex(value, { size: WORD_BYTES }).slice(2);
}

/** A word at an offset in bytes. @throws RangeError past the end, or when no number of bytes is so large */
function numberAt(digits: string, offset: number): number {
  const text = digits.slice(2 * offset, 2 * offset + WORD);
  const value = text.length === WORD ? Number(`0x${text}`) : Number.NaN;
  if (!(value <= digits.length)) throw new RangeError('an answer of aggregate3 is no list of results');
  return value;
}

/** Bytes behind their length, at an offset in bytes. @throws RangeError past the end */
function bytesAt(digits: string, offset: number): Hex {
  const start = 2 * offset + WORD;
  const end = start + 2 * numberAt(digits, offset);
  if (end > digits.length) throw new RangeError('an answer of aggregate3 ends too early');
  return `0x${digits.slice(start, end)}`;
}

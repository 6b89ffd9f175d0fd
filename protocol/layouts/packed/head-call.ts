import { size } from 'viem';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import { decodeExtsload, encodeExtsload } from '../extsload.ts';
import { STORAGE_ARRANGEMENTS } from './candidates.ts';
import { HEAD_SLOTS, type PoolHead, packedStorage } from './storage.ts';

/** How pools are stored by the arrangement that is tried first. */
export const storage = packedStorage(STORAGE_ARRANGEMENTS[0]);

/** Calldata for the pool that asks for its fixed slots. */
export const HEAD_DATA = encodeExtsload(HEAD_SLOTS);
/** Bytes of the answer: where the list of words begins, its length, the words. */
export const HEAD_BYTES = 32 * (2 + HEAD_SLOTS.length);

/** @returns null when the result is not an answer */
export function decodeHead({ success, data }: CallResult): PoolHead | null {
  if (!success || size(data) < HEAD_BYTES) return null;
  const words = decodeExtsload(data);
  return words.length === HEAD_SLOTS.length ? storage.decodeHead(words) : null;
}

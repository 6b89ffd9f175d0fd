import type { Side } from '../math/tradable.ts';

/** An address without code or tokens. The call that simulates a swap puts {@link PROBE_CODE} there. */
export const PROBE = '0x5109a7ed5109a7ed5109a7ed5109a7ed5109a7ed';

/**
 * Starts a swap and ends it in the pool's callback, before anything is paid. Called with a pool (one word) and the
 * call of its `swap`, it returns number and time of the block, then what the swap returned or reverted with.
 */
export const PROBE_CODE = [
  '0x5f3560f81c602e57', // Calldata with a selector in front, not a word: the pool's callback.
  '435f5242602052', // Number and time of the block.
  '60203603806020604037', // The call, which follows the word of the pool.
  '5f5f8260405f5f355af1', // Calls the pool.
  '3d5f60403e3d6040015ff3', // Returns number, time and what came back.
  '5b604060045f3760405ffd', // The callback reverts with its first two words, the amounts.
].join('');

const SWAP = 'e24f0884';
const WORD_DIGITS = 64;
const WORD_RANGE = 2n ** 256n;
/** Offsets of two empty byte strings after six words, and their lengths. */
const EMPTY_DATA = [0xc0n, 0xe0n, 0n, 0n];
const MAX_X64 = 2n ** 128n - 1n;

export interface ProbeResult {
  readonly blockNumber: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
  /** Of token0 and token1, positive into the pool; null for a swap that reverted. */
  readonly amounts: readonly [bigint, bigint] | null;
  /** What the swap returned or reverted with, hex. */
  readonly data: string;
}

/** @param amount raw units: above 0 exact input, below 0 exact output */
export function encodeProbe(pool: string, side: Side, amount: bigint): string {
  const isSale = side === 'bids';
  const args = [BigInt(PROBE), isSale ? 1n : 0n, amount, isSale ? 0n : MAX_X64, ...EMPTY_DATA];
  return `0x${word(BigInt(pool))}${SWAP}${args.map(word).join('')}`;
}

/** @returns null for the result of a call that did not run {@link PROBE_CODE} */
export function decodeProbe(result: unknown): ProbeResult | null {
  if (typeof result !== 'string' || result.length < 2 + 2 * WORD_DIGITS) return null;
  const wordAt = (index: number) => BigInt(`0x${result.slice(2 + index * WORD_DIGITS, 2 + (index + 1) * WORD_DIGITS)}`);
  const data = `0x${result.slice(2 + 2 * WORD_DIGITS)}`;
  // The data of an error are a selector and words, never two words.
  const isSwap = data.length === 2 + 2 * WORD_DIGITS;
  const signed = (index: number) => BigInt.asIntN(256, wordAt(index));
  return { blockNumber: wordAt(0), timestamp: wordAt(1), amounts: isSwap ? [signed(2), signed(3)] : null, data };
}

const word = (value: bigint): string =>
  (value < 0n ? value + WORD_RANGE : value).toString(16).padStart(WORD_DIGITS, '0');

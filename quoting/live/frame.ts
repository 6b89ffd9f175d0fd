import type { Address } from 'viem';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { AppError } from '../../config/app-error.ts';

/** What one message of a source says of the block being built. */
export interface Frame {
  readonly blockNumber: bigint;
  /** Unix seconds; null where the source does not say. */
  readonly timestamp: bigint | null;
  /** Each venue's overrides, all of them: they replace those of before. A venue without overrides has no live price. */
  readonly venues: ReadonlyMap<Address, StateOverrides>;
  /** Whether venues that the frame does not name have no live price (a relayer's complete snapshot). */
  readonly isComplete: boolean;
  /** How many entries were skipped, by reason. Absent: none. */
  readonly skipped?: ReadonlyMap<SkippedEntry, number> | undefined;
}

/**
 * Which entry of a frame was skipped, because it is not what it must be:
 *
 * - `venue`, `account`: it holds nothing by account or by slot, or its own address is none;
 * - `word`: the word, or its slot, is not hex of up to 32 bytes;
 * - `slot`: the slot of the block, which gives its time, is not an integer;
 * - `oversized`: the venue is one of the largest of a frame that exceeds one of {@link BOUNDS}.
 */
export type SkippedEntry = 'venue' | 'account' | 'word' | 'slot' | 'oversized';

/** Most that is used of one frame. Real frames have a few venues and some hundred overrides. */
export const BOUNDS = {
  /** Of the message, as UTF-8. */
  bytes: 524_288,
  venues: 256,
  /** Of all venues together; an account that two venues share counts twice. */
  accounts: 1_024,
  /** Of all accounts together. */
  overrides: 4_096,
} as const;

/**
 * Why a message has no usable frame:
 *
 * - `malformed`: it is not JSON, or does not name its block;
 * - `oversized`: it has more bytes than {@link BOUNDS} allow;
 * - `refused`: it is a JSON-RPC error, or the response has an HTTP status of 300 or more.
 */
export type FrameFault = 'malformed' | 'oversized' | 'refused';

/** A message without a usable frame. It holds nothing of the message, whose text may be anything. */
export class FrameError extends AppError {
  readonly code: FrameFault;
  readonly retryable = true;

  constructor(code: FrameFault) {
    super(`the message of a live source is ${code}`);
    this.code = code;
  }
}

/** @throws FrameError `oversized` */
export function checkBounds(venues: Frame['venues']): Frame['venues'] {
  const all = [...venues.values()];
  const accounts = all.reduce((sum, { size }) => sum + size, 0);
  const overrides = all.reduce((sum, ofVenue) => sum + slotCount(ofVenue), 0);
  if (venues.size > BOUNDS.venues || accounts > BOUNDS.accounts || overrides > BOUNDS.overrides)
    throw new FrameError('oversized');
  return venues;
}

/** How many overrides there are, of all accounts. */
export const slotCount = (overrides: StateOverrides): number =>
  overrides.values().reduce((sum, slots) => sum + slots.size, 0);

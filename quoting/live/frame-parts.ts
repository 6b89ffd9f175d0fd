import type { Address, Hex } from 'viem';
import type { StateOverrides } from '../../chain/pending-state.ts';
import { BOUNDS, FrameError, type SkippedEntry, slotCount } from './frame.ts';
import type { MutableSlotMap } from './slot-map.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Counts what is skipped in one frame. */
export class SkipCounter {
  /** Undefined while nothing was skipped. */
  counts: Map<SkippedEntry, number> | undefined;

  add(entry: SkippedEntry): void {
    this.counts ??= new Map();
    this.counts.set(entry, (this.counts.get(entry) ?? 0) + 1);
  }
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const WORD = /^0x[0-9a-fA-F]{1,64}$/;
const WHOLE_WORD = /^0x[0-9a-f]{64}$/;
const INTEGER = /^(0x[0-9a-fA-F]{1,16}|\d{1,20})$/;
const MAX_INTEGER = 2n ** 64n - 1n;

/**
 * Finds the frame in a message, which is the frame itself, the result of a JSON-RPC call, or a notification.
 *
 * @returns undefined for the answer to a subscription, which holds no frame
 * @throws FrameError
 */
export function frameFields(text: string): Fields | undefined {
  if (Buffer.byteLength(text) > BOUNDS.bytes) throw new FrameError('oversized');
  try {
    return unwrap(JSON.parse(text));
  } catch (error) {
    throw error instanceof FrameError ? error : new FrameError('malformed');
  }
}

/** Takes a frame out of its JSON-RPC envelope. */
function unwrap(value: unknown): Fields | undefined {
  const message = fieldsOf(value) ?? {};
  if ('blockNumber' in message || 'block_number' in message) return message;
  const { error, params, result } = message;
  if (error !== undefined && error !== null) throw new FrameError('refused');
  if (params === undefined && typeof result === 'string') return undefined;
  const fields = fieldsOf(params === undefined ? result : fieldsOf(params)?.result);
  if (!fields) throw new FrameError('malformed');
  return fields;
}

/** The fields of a JSON object; undefined for all else. */
export const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

/** An address, lowercased; undefined for all else. */
export const addressOf = (value: unknown): Address | undefined =>
  typeof value === 'string' && ADDRESS.test(value) ? (value.toLowerCase() as Address) : undefined;

/**
 * An unsigned integer of at most 64 bits, from hex or decimal digits or a JSON integer below 2^53;
 * undefined for all else.
 */
export function integerOf(value: unknown): bigint | undefined {
  const isInteger = typeof value === 'string' ? INTEGER.test(value) : Number.isSafeInteger(value) && Number(value) >= 0;
  const integer = isInteger ? BigInt(value as string | number) : undefined;
  return integer !== undefined && integer <= MAX_INTEGER ? integer : undefined;
}

/** A frame's block. @throws FrameError without it, since all overrides are of that block */
export function blockNumberOf({ blockNumber, block_number }: Fields): bigint {
  const number = integerOf(blockNumber) ?? integerOf(block_number);
  if (number === undefined) throw new FrameError('malformed');
  return number;
}

/**
 * Adds storage overrides by account. Of a slot in several spellings, padded or not, the last word counts, whatever the
 * spelling of its account.
 *
 * @param slotsOf gives the overrides by slot of what an account has; undefined when that is malformed
 */
export function addOverrides(
  target: MutableSlotMap<Hex>,
  accounts: Fields,
  slotsOf: (account: unknown) => Fields | undefined,
  skipped: SkipCounter,
): void {
  for (const [key, account] of Object.entries(accounts)) {
    const [address, slots] = [addressOf(key), slotsOf(account)];
    if (!address || !slots) {
      skipped.add('account');
      continue;
    }
    const overrides = target.get(address) ?? new Map<Hex, Hex>();
    for (const [slotKey, value] of Object.entries(slots)) {
      const [slot, word] = [wordOf(slotKey), wordOf(value)];
      if (slot && word) overrides.set(slot, word);
      else skipped.add('word');
    }
    if (overrides.size > 0) target.set(address, overrides);
  }
}

/** A slot or a word: 32 bytes, from up to 64 hex digits; undefined for all else. */
function wordOf(value: unknown): Hex | undefined {
  if (typeof value !== 'string') return undefined;
  // As most sources write it, there is nothing to change.
  if (WHOLE_WORD.test(value)) return value as Hex;
  return WORD.test(value) ? `0x${value.slice(2).toLowerCase().padStart(64, '0')}` : undefined;
}

/** The venues in their order, without the largest ones that make them exceed a bound together. */
export function venuesWithin(
  venues: ReadonlyMap<Address, StateOverrides>,
  skipped: SkipCounter,
): ReadonlyMap<Address, StateOverrides> {
  const sizes = [...venues].map(([venue, overrides]) => ({
    venue,
    accounts: overrides.size,
    overrides: slotCount(overrides),
  }));
  const fitting = new Set<Address>();
  let sum = { accounts: 0, overrides: 0 };
  for (const { venue, ...size } of sizes.sort((one, other) => one.overrides - other.overrides)) {
    const next = { accounts: sum.accounts + size.accounts, overrides: sum.overrides + size.overrides };
    if (fitting.size === BOUNDS.venues || next.accounts > BOUNDS.accounts || next.overrides > BOUNDS.overrides) {
      skipped.add('oversized');
      continue;
    }
    fitting.add(venue);
    sum = next;
  }
  return fitting.size === venues.size ? venues : new Map([...venues].filter(([venue]) => fitting.has(venue)));
}

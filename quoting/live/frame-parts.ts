import type { Address, Hex } from 'viem';
import type { Words } from '../../chain/pending-state.ts';
import { BOUNDS, FrameError } from './frame.ts';

export type Fields = Readonly<Record<string, unknown>>;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const WORD = /^0x[0-9a-fA-F]{1,64}$/;
const QUANTITY = /^0x[0-9a-fA-F]{1,16}$/;

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
  const message = fieldsOf(value);
  if ('blockNumber' in message || 'block_number' in message) return message;
  const { error, params, result } = message;
  if (error !== undefined && error !== null) throw new FrameError('refused');
  if (params !== undefined) return fieldsOf(fieldsOf(params).result);
  return typeof result === 'string' ? undefined : fieldsOf(result);
}

/** The fields of a JSON object. @throws FrameError */
export function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new FrameError('malformed');
  return value as Fields;
}

export const isAddress = (value: unknown): value is Hex => typeof value === 'string' && ADDRESS.test(value);

/** An address, lowercased. @throws FrameError */
export function addressOf(value: unknown): Address {
  if (!isAddress(value)) throw new FrameError('malformed');
  return value.toLowerCase() as Address;
}

/** An unsigned integer of at most 64 bits, from a hex quantity or a JSON integer below 2^53. @throws FrameError */
export function integerOf(value: unknown): bigint {
  const isHex = typeof value === 'string' && QUANTITY.test(value);
  if (!isHex && !(Number.isSafeInteger(value) && (value as number) >= 0)) throw new FrameError('malformed');
  return BigInt(value as string | number);
}

/**
 * Reads storage words by account.
 *
 * @param slotsOf gives the words by slot of what an account has; an account without them is left out
 * @throws FrameError
 */
export function readWords(accounts: unknown, slotsOf: (account: unknown) => unknown = (account) => account): Words {
  const words = new Map<Address, ReadonlyMap<Hex, Hex>>();
  for (const [address, account] of Object.entries(fieldsOf(accounts))) {
    const slots = new Map<Hex, Hex>();
    for (const [slot, word] of Object.entries(fieldsOf(slotsOf(account) ?? {})))
      setOnce(slots, wordOf(slot), wordOf(word));
    if (slots.size > 0) setOnce(words, addressOf(address), slots);
  }
  return words;
}

/** Adds an entry. @throws FrameError when another spelling of the key was there: which of the two holds is unclear */
export function setOnce<K, V>(map: Map<K, V>, key: K, value: V): void {
  if (map.has(key)) throw new FrameError('malformed');
  map.set(key, value);
}

/** A slot or a word: 32 bytes, from up to 64 hex digits. */
function wordOf(value: unknown): Hex {
  if (typeof value !== 'string' || !WORD.test(value)) throw new FrameError('malformed');
  return `0x${value.slice(2).toLowerCase().padStart(64, '0')}`;
}

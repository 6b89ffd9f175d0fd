import { type Address, zeroAddress } from 'viem';
import type { Words } from '../../chain/pending-state.ts';
import { checkBounds, type Frame, FrameError } from './frame.ts';
import { addressOf, type Fields, fieldsOf, frameFields, integerOf, readWords, setOnce } from './frame-parts.ts';

/**
 * Reads a relayer's snapshot of all live quotes (BAP-710), as the result of a call or in a notification:
 *
 * ```jsonc
 * { "blockNumber": "0x3039", "millisTimestamp": 1781801564588, "overrides": { "0x<account>": { "0x<slot>": "0x<word>" } },
 *   "venues": [ { "router": "0x<venue>", "overrides": { … } } ] }
 * ```
 *
 * Empty `overrides` means that nothing has a live quote. Without `venues`, all words are of one venue, the zero address.
 *
 * @returns a complete frame without a time; undefined for the answer to a subscription
 * @throws FrameError
 */
export function parseRelayerFrame(text: string): Frame | undefined {
  const fields = frameFields(text);
  if (!fields) return undefined;
  const blockNumber = integerOf(fields.blockNumber);
  return { blockNumber, timestamp: null, venues: checkBounds(readVenues(fields)), isComplete: true };
}

function readVenues({ overrides, venues: listed }: Fields): ReadonlyMap<Address, Words> {
  const venues = new Map<Address, Words>();
  // Nodes written in Go send an empty map or list as null.
  const all = overrides === null ? {} : fieldsOf(overrides);
  if (listed !== undefined && listed !== null && !Array.isArray(listed)) throw new FrameError('malformed');
  if (Object.keys(all).length === 0) return venues;
  if (!listed?.length) return venues.set(zeroAddress, readWords(all));
  for (const venue of listed) {
    const { router, overrides: words } = fieldsOf(venue);
    setOnce(venues, addressOf(router), readWords(words ?? {}));
  }
  return venues;
}

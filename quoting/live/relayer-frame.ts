import { type Address, type Hex, zeroAddress } from 'viem';
import { type Frame, FrameError } from './frame.ts';
import {
  addOverrides,
  addressOf,
  blockNumberOf,
  type Fields,
  fieldsOf,
  frameFields,
  SkipCounter,
  venuesWithin,
} from './frame-parts.ts';
import type { MutableSlotMap } from './slot-map.ts';

/**
 * Reads a relayer's snapshot of all live quotes (BAP-710), as the result of a call or in a notification:
 *
 * ```jsonc
 * { "blockNumber": "0x3039", "millisTimestamp": 1781801564588,
 *   "overrides": { "0x<account>": { "0x<slot>": "0x<word>" } },
 *   "venues": [ { "router": "0x<venue>", "overrides": { … } } ] }
 * ```
 *
 * Empty `overrides` means that nothing has a live quote. Without a venue, all overrides are of one venue, the zero
 * address. What is malformed is skipped, entry by entry.
 *
 * @returns a complete frame without a time; undefined for the answer to a subscription
 * @throws FrameError when the block is not known, or there are neither overrides nor venues
 */
export function parseRelayerFrame(text: string): Frame | undefined {
  const fields = frameFields(text);
  if (!fields) return undefined;
  const skipped = new SkipCounter();
  const blockNumber = blockNumberOf(fields);
  const venues = venuesWithin(readVenues(fields, skipped), skipped);
  return { blockNumber, timestamp: null, venues, isComplete: true, skipped: skipped.counts };
}

function readVenues(
  { overrides, venues: listed }: Fields,
  skipped: SkipCounter,
): ReadonlyMap<Address, MutableSlotMap<Hex>> {
  const venues = new Map<Address, MutableSlotMap<Hex>>();
  const all = fieldsOrNone(overrides);
  if (all && Object.keys(all).length === 0) return venues;
  if (listed !== undefined && listed !== null && !Array.isArray(listed)) skipped.add('venue');
  for (const entry of Array.isArray(listed) ? listed : []) {
    const { router, overrides: ofVenue } = fieldsOf(entry) ?? {};
    const [venue, accounts] = [addressOf(router), fieldsOrNone(ofVenue ?? null)];
    if (!venue || !accounts) {
      skipped.add('venue');
      continue;
    }
    const ofRouter: MutableSlotMap<Hex> = venues.get(venue) ?? new Map();
    addOverrides(ofRouter, accounts, fieldsOrNone, skipped);
    venues.set(venue, ofRouter);
  }
  if (venues.size > 0) return venues;
  // Which venue has which overrides is not known.
  if (!all) throw new FrameError('malformed');
  const unnamed: MutableSlotMap<Hex> = new Map();
  addOverrides(unnamed, all, fieldsOrNone, skipped);
  return venues.set(zeroAddress, unnamed);
}

/** Fields, of which nodes written in Go send an empty map as null; undefined when they are malformed. */
const fieldsOrNone = (value: unknown): Fields | undefined => (value === null ? {} : fieldsOf(value));

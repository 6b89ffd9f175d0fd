import type { Address, Hex } from 'viem';
import type { Frame } from './frame.ts';
import {
  addOverrides,
  addressOf,
  blockNumberOf,
  type Fields,
  fieldsOf,
  frameFields,
  integerOf,
  SkipCounter,
  venuesWithin,
} from './frame-parts.ts';
import type { MutableSlotMap } from './slot-map.ts';
import { SLOT_CHAIN, timeOfSlot } from './slots.ts';

/**
 * Reads a block builder's frame, bare or as the result of a call:
 *
 * ```jsonc
 * { "slot": 14984765, "blockNumber": 25345763, "timestamp": 1781801564588230787,
 *   "0x<venue>": { "stateOverride": { "0x<account>": { "stateDiff": { "0x<slot>": "0x<word>" } } } } }
 * ```
 *
 * Keys with underscores mean the same, and so do two spellings of an address: their overrides count together. All else
 * is not used, including accounts' code, balance, nonce and `state`. What is malformed is skipped, entry by entry.
 *
 * @returns a frame that leaves venues unchanged which it does not name; its time is known on Ethereum mainnet alone
 * @throws FrameError when the block is not known
 */
export function parseBuilderFrame(text: string, chainId: number): Frame {
  const fields = frameFields(text) ?? {};
  const blockNumber = blockNumberOf(fields);
  const skipped = new SkipCounter();
  const venues = new Map<Address, MutableSlotMap<Hex>>();
  for (const [key, value] of Object.entries(fields)) {
    const venue = addressOf(key);
    if (!venue) continue;
    const { stateOverride, state_override } = fieldsOf(value) ?? {};
    const accounts = fieldsOf(stateOverride) ?? fieldsOf(state_override);
    if (!accounts) {
      skipped.add('venue');
      continue;
    }
    const overrides: MutableSlotMap<Hex> = venues.get(venue) ?? new Map();
    addOverrides(overrides, accounts, slotsOf, skipped);
    venues.set(venue, overrides);
  }
  const timestamp = chainId === SLOT_CHAIN ? timeOf(fields, skipped) : null;
  return {
    blockNumber,
    timestamp,
    venues: venuesWithin(venues, skipped),
    isComplete: false,
    skipped: skipped.counts,
  };
}

/** When a frame was made: its only number that differs where a source repeats what it sent. It says nothing. */
const MADE_AT = /"timestamp":\s?[1-9]\d{0,24}/;

/**
 * Reads the frames of one source. What repeats the frame before, as most frames do, is the same object.
 *
 * @returns as {@link parseBuilderFrame}, throws as that
 */
export function builderFrames(): typeof parseBuilderFrame {
  let last: { readonly chainId: number; readonly content: string; readonly frame: Frame } | undefined;
  return (text, chainId) => {
    const content = text.replace(MADE_AT, '');
    if (last?.content !== content || last.chainId !== chainId)
      last = { chainId, content, frame: parseBuilderFrame(text, chainId) };
    return last.frame;
  };
}

function timeOf({ slot }: Fields, skipped: SkipCounter): bigint | null {
  if (slot === undefined || slot === null) return null;
  const number = integerOf(slot);
  if (number === undefined) skipped.add('slot');
  return number === undefined ? null : timeOfSlot(number);
}

/** An account of which no slots are said has none. */
function slotsOf(account: unknown): Fields | undefined {
  const fields = fieldsOf(account);
  const slots = fields?.stateDiff ?? fields?.state_diff ?? {};
  return fields && fieldsOf(slots);
}

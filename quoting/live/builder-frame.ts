import type { Address } from 'viem';
import type { Words } from '../../chain/pending-state.ts';
import { checkBounds, type Frame, FrameError } from './frame.ts';
import { addressOf, fieldsOf, frameFields, integerOf, isAddress, readWords, setOnce } from './frame-parts.ts';
import { SLOT_CHAIN, timeOfSlot } from './slots.ts';

/**
 * Reads a block builder's frame, bare or as the result of a call:
 *
 * ```jsonc
 * { "slot": 14984765, "blockNumber": 25345763, "timestamp": 1781801564588230787,
 *   "0x<venue>": { "stateOverride": { "0x<account>": { "stateDiff": { "0x<slot>": "0x<word>" } } } } }
 * ```
 *
 * Keys with underscores mean the same. All else is skipped, including accounts' code, balance, nonce and `state`.
 *
 * @returns a frame that leaves venues unchanged which it does not name; its time is known on Ethereum mainnet alone
 * @throws FrameError
 */
export function parseBuilderFrame(text: string, chainId: number): Frame {
  const fields = frameFields(text);
  if (!fields) throw new FrameError('malformed');
  const venues = new Map<Address, Words>();
  for (const [key, value] of Object.entries(fields)) {
    if (!isAddress(key)) continue;
    const { stateOverride, state_override: accounts = stateOverride } = fieldsOf(value);
    setOnce(venues, addressOf(key), readWords(accounts, slotsOf));
  }
  const { blockNumber, block_number: number = blockNumber, slot } = fields;
  const hasTime = chainId === SLOT_CHAIN && slot !== undefined && slot !== null;
  const timestamp = hasTime ? timeOfSlot(integerOf(slot)) : null;
  return { blockNumber: integerOf(number), timestamp, venues: checkBounds(venues), isComplete: false };
}

function slotsOf(account: unknown): unknown {
  const { stateDiff, state_diff: slots = stateDiff } = fieldsOf(account);
  return slots;
}

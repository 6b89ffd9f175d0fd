import { isHex, keccak256 } from 'viem';
import { stringifyJson } from '../../runtime/json.ts';
import { nowNs } from '../mock-builders/behaviour.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND, type RpcCall, type RpcOutcome } from '../rpc-messages.ts';
import { type PendingUpdates, venueWords } from './pending-updates.ts';

/**
 * A frame in the form of builders on Ethereum, as JSON text:
 * the words of every venue with updates for the block being built.
 *
 * `{ slot, blockNumber, timestamp, "0x<venue>": { stateOverride: { "0x<account>": { stateDiff: { "0x<slot>": "0x<word>"
 * } } } } }`
 *
 * All three numbers are integers; `timestamp` is when the frame was made, Unix nanoseconds, so above 2^53.
 */
export function builderFrame(pending: PendingUpdates): string {
  return stringifyJson(frameOf(pending));
}

/**
 * Answers `titan_getPammStateOverrides` with the current frame, and takes what `eth_sendRawTransaction` sends: it lands
 * in the next block, right behind the updates.
 */
export function answerBuilder(pending: PendingUpdates, { method, params: [param] }: RpcCall): RpcOutcome {
  if (method === 'titan_getPammStateOverrides') return { result: frameOf(pending) };
  if (method !== 'eth_sendRawTransaction') return METHOD_NOT_FOUND;
  if (!isHex(param)) return INVALID_PARAMS;
  pending.addSwap(param);
  return { result: keccak256(param) };
}

function frameOf(pending: PendingUpdates): object {
  const { number, slot } = pending.block;
  const venues = [...venueWords(pending.all())].map(([venue, accounts]) => {
    const diffs = Object.entries(accounts).map(([account, stateDiff]) => [account, { stateDiff }]);
    return [venue, { stateOverride: Object.fromEntries(diffs) }];
  });
  return { slot: Number(slot), blockNumber: Number(number), timestamp: nowNs(), ...Object.fromEntries(venues) };
}

import { stringifyJson } from '../../runtime/json.ts';
import { nowNs } from '../mock-builders/behaviour.ts';
import { METHOD_NOT_FOUND, type RpcCall, type RpcOutcome } from '../rpc-messages.ts';
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

/** Answers `titan_getPammStateOverrides` with the current frame. */
export function answerBuilder(pending: PendingUpdates, { method }: RpcCall): RpcOutcome {
  return method === 'titan_getPammStateOverrides' ? { result: frameOf(pending) } : METHOD_NOT_FOUND;
}

function frameOf(pending: PendingUpdates): object {
  const { number, slot } = pending.block;
  const venues = [...venueWords(pending.all())].map(([venue, accounts]) => {
    const diffs = Object.entries(accounts).map(([account, stateDiff]) => [account, { stateDiff }]);
    return [venue, { stateOverride: Object.fromEntries(diffs) }];
  });
  return { slot: Number(slot), blockNumber: Number(number), timestamp: nowNs(), ...Object.fromEntries(venues) };
}

import type { Address } from 'viem';
import { METHOD_NOT_FOUND, type RpcCall, type RpcOutcome } from '../rpc-messages.ts';
import { accountWords, type PendingUpdates, venueWords } from './pending-updates.ts';

/** How long the relayer of BNB Chain shows an update. */
const MAX_QUOTE_AGE_MS = 400;

/**
 * A snapshot in the form of the relayer (BAP-710): the words of all venues merged, and those of each.
 *
 * `{ blockNumber, millisTimestamp, overrides: { account: { slot: word } }, venues: [{ router, overrides }] }`
 *
 * `blockNumber` is the block being built, `millisTimestamp` when the snapshot was made, Unix milliseconds.
 *
 * @param routers the venues to report; none means all
 */
export function relayerSnapshot(pending: PendingUpdates, routers: readonly string[] = []): object {
  const wanted = new Set(routers.map((router) => router.toLowerCase()));
  const updates = pending.all().filter(({ venue }) => wanted.size === 0 || wanted.has(venue));
  return {
    blockNumber: Number(pending.block.number),
    millisTimestamp: Date.now(),
    overrides: accountWords(updates),
    venues: [...venueWords(updates)].map(([router, overrides]: [Address, object]) => ({ router, overrides })),
  };
}

/** Answers `pamm_getPammStateOverrides` and `pamm_status`. */
export function answerRelayer(pending: PendingUpdates, { method }: RpcCall): RpcOutcome {
  if (method === 'pamm_getPammStateOverrides') return { result: relayerSnapshot(pending) };
  return method === 'pamm_status' ? { result: status(pending) } : METHOD_NOT_FOUND;
}

function status(pending: PendingUpdates): object {
  return {
    ready: true,
    targetBlock: Number(pending.block.number),
    liveQuotes: pending.all().length,
    builders: 1,
    maxQuoteAgeMs: MAX_QUOTE_AGE_MS,
  };
}

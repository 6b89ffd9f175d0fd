import type { Address } from 'viem';
import { mayBeOn } from '../../chain/part-view.ts';
import type { PendingState, StateOverrides } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { MAX_AHEAD } from './frame-merger.ts';
import { type LiveHeadState, type LiveInputs, type LivePace, lastReceived } from './live-head-state.ts';
import type { PendingOverrides } from './sourced-block.ts';

/** Shortest time between two states of the same committed block that are taken. */
const TAKE_MS = 100;

/**
 * Whether a block may be the one that is being built on a committed block, and its overrides are young. A part of a
 * block on another one, which was reorganised away, is not.
 */
export function holds(
  { blockNumber, receivedAt, part }: Pick<PendingState, 'blockNumber' | 'receivedAt' | 'part'>,
  on: Pick<BlockRef, 'number' | 'hash'> & { readonly top: bigint; readonly highest: bigint },
  now: number,
  { maxAgeMs }: LivePace,
): boolean {
  const isAhead = blockNumber > on.number && blockNumber > on.top && blockNumber - on.number <= MAX_AHEAD;
  if (part && !mayBeOn(part.view, on)) return false;
  return isAhead && blockNumber >= on.highest && now - receivedAt < maxAgeMs;
}

/** Takes the head as it is now. */
export function takeHead(before: LiveHeadState, inputs: LiveInputs, now: number, pace: LivePace): LiveHeadState {
  const { committed, top, protectedAccounts } = inputs;
  if (!committed) return before;
  const { number, hash } = committed.block;
  const last = before.taken?.committed === committed ? before.taken : undefined;
  const wentBack = !last && before.taken !== undefined && number <= before.taken.committed.block.number;
  const highest = wentBack ? -1n : before.highest;
  const on = { number, hash, top, highest };
  const isUsable = protectedAccounts !== undefined && now >= before.suspendedUntil;
  const overrides =
    isUsable && inputs.overrides && holds(inputs.overrides, on, now, pace) ? inputs.overrides : undefined;
  if (last) {
    const { pending } = last.head.block;
    if (pending?.digest === overrides?.digest) return before;
    const isSameBlock = pending !== undefined && pending.blockNumber === overrides?.blockNumber;
    if (
      isSameBlock &&
      now - last.takenAt < (pace.spacingMs ?? TAKE_MS) &&
      holds({ ...pending, receivedAt: lastReceived(before, pending) }, on, now, pace)
    )
      return before;
  }
  if (!overrides) return { ...before, highest, taken: { committed, head: committed, takenAt: now } };
  const pending = pendingOn(committed.block, overrides, inputs, pace);
  const head = { ...committed, block: { ...committed.block, pending } };
  return { ...before, highest: overrides.blockNumber, taken: { committed, head, takenAt: now } };
}

/** What is built on a committed block. */
function pendingOn(
  { number, timestamp }: BlockRef,
  overrides: PendingOverrides,
  { protectedAccounts }: LiveInputs,
  { blockTimeMs }: LivePace,
): PendingState {
  const isUsable = (account: Address) => !protectedAccounts?.has(account);
  const usable = (all: StateOverrides): StateOverrides => new Map([...all].filter(([account]) => isUsable(account)));
  const { blockNumber, digest, republished, part, receivedAt } = overrides;
  const secsAhead = Math.round((Number(blockNumber - number) * blockTimeMs) / 1_000);
  return {
    blockNumber,
    timestamp: overrides.timestamp ?? timestamp + BigInt(secsAhead),
    overrides: usable(overrides.overrides),
    republished: republished && new Map([...republished].map(([venue, all]) => [venue, usable(all)])),
    ...(part && { part }),
    digest,
    receivedAt,
  };
}

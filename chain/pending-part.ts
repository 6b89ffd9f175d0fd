import { type PartView, type PendingPart, type PendingState, stateDigest } from './pending-state.ts';

/** The state after a part of the block being built. @param receivedAt when a call last showed it */
export function pendingPart(part: PendingPart, receivedAt: number): PendingState & { readonly part: PendingPart } {
  const { blockNumber, timestamp } = part.view;
  return { blockNumber, timestamp, digest: digestOf(part.view), part, overrides: new Map(), receivedAt };
}

export const digestOf = ({ blockNumber, timestamp, parentHash, feesWei }: PartView): string =>
  stateDigest(`${blockNumber} ${timestamp} ${parentHash} ${feesWei}`);

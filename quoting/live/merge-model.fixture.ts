import type { Address, Hex } from 'viem';
import type { Frame } from './frame.ts';
import type { PendingWords } from './pending-words.ts';

export const MAX_AGE_MS = 1_000;

export interface Taken {
  readonly source: object;
  readonly frame: Frame;
  readonly at: number;
}

/** The rules again, worked out from all frames of the block each time. */
export class MergeModel {
  #number = -1n;
  #frames: Taken[] = [];

  take({ source, frame, at }: Taken, head: bigint | undefined): string {
    if (head !== undefined && frame.blockNumber <= head) return 'late';
    if (head !== undefined && frame.blockNumber > head + 2n) return 'ahead';
    const sentAt = this.#frames.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
    const isForgotten = at - sentAt > MAX_AGE_MS || (head !== undefined && this.#number > head + 2n);
    if (frame.blockNumber < this.#number && !isForgotten) return 'late';
    if (frame.blockNumber !== this.#number) this.#frames = [];
    this.#number = frame.blockNumber;
    this.#frames.push({ source, frame, at });
    return 'used';
  }

  state(now: number): Omit<PendingWords, 'digest'> | undefined {
    const found = new Map<string, { readonly word: Hex; readonly index: number }>();
    for (const [index, { source, frame, at }] of this.#frames.entries()) {
      const later = this.#frames.slice(index + 1).filter((taken) => taken.source === source);
      // The venue that a frame names first wins, so it comes last here.
      for (const [venue, accounts] of [...frame.venues].reverse()) {
        if (now - at > MAX_AGE_MS || later.some((next) => next.frame.isComplete || next.frame.venues.has(venue)))
          continue;
        for (const [account, slots] of accounts)
          for (const [slot, word] of slots) found.set(`${account} ${slot}`, { word, index });
      }
    }
    if (found.size === 0) return undefined;
    const used = [...new Set(found.values().map(({ index }) => index))]
      .sort((a, b) => a - b)
      .map((i) => this.#frames[i]);
    const merged = new Map<Address, Map<Hex, Hex>>();
    for (const [key, { word }] of found) {
      const [account, slot] = key.split(' ') as [Address, Hex];
      merged.set(account, (merged.get(account) ?? new Map()).set(slot, word));
    }
    const timestamp = used.findLast((taken) => taken?.frame.timestamp !== null)?.frame.timestamp ?? null;
    return { blockNumber: this.#number, timestamp, words: merged, receivedAt: used[0]?.at ?? 0 };
  }
}

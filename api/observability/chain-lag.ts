import type { BlockPoint } from '../../db/indexed-blocks.ts';

/** How far the index of a chain is behind the chain, as `/ready` shows it. */
export type ChainLag = {
  readonly chainId: number;
  readonly name: string;
  /** Null when the chain is not indexed, or the database does not say. */
  readonly indexedBlock: number | null;
  /** Unix seconds. */
  readonly indexedTimestamp: number | null;
  /** Null when no node answers. */
  readonly headBlock: number | null;
  /** Negative when the index holds blocks that the node does not know. */
  readonly lagBlocks: number | null;
  /** Between the timestamps of the two blocks. */
  readonly lagSecs: number | null;
  /** The index has not been at the head, or on its way there, for longer than the limit. */
  readonly stalled: boolean;
};

/** One look at a chain: null for what could not be learned. */
export type ChainLook = { readonly indexed: BlockPoint | null; readonly head: BlockPoint | null };

export type LagLimit = { readonly blockTimeMs: number; readonly maxLagSecs: number };

/**
 * Whether the index follows the chain: it is at the node's head, or it moved since the look before and is near. Blocks
 * count by the chain's usual block time rather than by their timestamps: a chain that was silent for an hour is not an
 * hour behind when its next block comes.
 *
 * @param before the previous look; undefined at the first, which gets the benefit of the doubt
 */
export function isFollowing(before: ChainLook | undefined, now: ChainLook, limit: LagLimit): boolean {
  if (now.indexed === null || now.head === null) return false;
  if (areSame(now.indexed, now.head)) return true;
  const hasMoved = before === undefined || before.indexed === null || !areSame(before.indexed, now.indexed);
  return hasMoved && Math.abs(now.head.number - now.indexed.number) * limit.blockTimeMs <= limit.maxLagSecs * 1000;
}

/** Of a block that may be the newest: one more than it is old when the next one is seen. */
const YOUNG_PACES = 2;
/** Timestamps of blocks count seconds. */
const TIMESTAMP_MS = 1_000;

/**
 * Whether a block is so young that few others can have come after it.
 *
 * @param paceMs usual time until the next block is seen
 * @param now milliseconds
 */
export function isYoung({ timestamp }: BlockPoint, paceMs: number, now: number): boolean {
  return Math.abs(now - timestamp * 1_000) <= YOUNG_PACES * paceMs + TIMESTAMP_MS;
}

/** Blocks and seconds from the index to the head. */
export function lagBetween({ indexed, head }: ChainLook): Pick<ChainLag, 'lagBlocks' | 'lagSecs'> {
  if (indexed === null || head === null) return { lagBlocks: null, lagSecs: null };
  return { lagBlocks: head.number - indexed.number, lagSecs: Math.max(0, head.timestamp - indexed.timestamp) };
}

/** Two blocks of one height differ in their time when a reorganisation undid one of them, as a rule. */
function areSame(one: BlockPoint, other: BlockPoint): boolean {
  return one.number === other.number && one.timestamp === other.timestamp;
}

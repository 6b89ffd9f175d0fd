import { hash } from 'node:crypto';
import type { Address, Hex } from 'viem';
import { perObject } from '../runtime/per-object.ts';

/** Storage overrides by account, then by slot. Accounts are lowercase, slots and values lowercase hex of 32 bytes. */
export type StateOverrides = ReadonlyMap<Address, ReadonlyMap<Hex, Hex>>;

/** A block that is being built: its number, and its time in Unix seconds. */
export interface TargetBlock {
  readonly blockNumber: bigint;
  readonly timestamp: bigint;
}

/** The block after another one, at the spacing of its chain. */
export const blockAfter = (
  { number, timestamp }: { readonly number: bigint; readonly timestamp: bigint },
  blockTimeMs: number,
): TargetBlock => ({ blockNumber: number + 1n, timestamp: timestamp + BigInt(Math.round(blockTimeMs / 1_000)) });

/**
 * What one call at the tag `pending` shows of the block that it ran in. Two calls that show the same ran on the same
 * part: each transaction of a part pays fees.
 */
export interface PartView extends TargetBlock {
  /** Hash of the block below; null where the node does not give it. */
  readonly parentHash: Hex | null;
  /** What the accounts of fees hold, wei: in a block it grows with each transaction, unless fees are taken out. */
  readonly feesWei: bigint;
  /** Host of the node that showed it; absent where that is not known. Says nothing of the state. */
  readonly node?: string | undefined;
}

/** A part of the block being built, as calls at the tag `pending` show it. */
export interface PendingPart {
  readonly view: PartView;
  /** Counts the parts of the block from 0; null where it is not known. */
  readonly index: number | null;
  /** The contract that shows the block. */
  readonly multicall3: Address;
  /** Whether a call may have run on what it shows. Default: on what `view` shows alone. */
  readonly takes?: ((view: PartView) => boolean) | undefined;
}

/** What a block that is being built has on top of a committed block. */
export interface PendingState extends TargetBlock {
  /** They replace storage of the committed block. */
  readonly overrides: StateOverrides;
  /** Of the overrides, those that may be passed on, by venue: the newest first. Absent: none. */
  readonly republished?: ReadonlyMap<Address, StateOverrides> | undefined;
  /** Names the state: the same number, time and overrides have the same digest. */
  readonly digest: string;
  /**
   * Set where the state is that of nodes at their tag `pending`, without overrides:
   * the part of the block that calls must show.
   */
  readonly part?: PendingPart | undefined;
  /** When a source had last given it when this was made, by `performance.now()`: it may have since. */
  readonly receivedAt: number;
}

/** A committed block, and what calls see on top of it. */
export interface BlockState {
  readonly hash: Hex;
  /** Unix seconds. */
  readonly timestamp: bigint;
  /** Absent for the block as it is. */
  readonly pending?: PendingState;
}

/** Time of the block that contracts see in a call at this block, Unix seconds. */
export const timeIn = ({ pending, timestamp }: BlockState): bigint => pending?.timestamp ?? timestamp;

const DIGEST_CHARACTERS = 22;

/** The digest of a state that is written as a text. */
export const stateDigest = (text: string): string => hash('sha256', text, 'base64url').slice(0, DIGEST_CHARACTERS);

/** Names the state that a call at this block sees: a committed block's hash, and the digest of what is on top. */
export const stateOf = ({ hash, pending }: BlockState): string => (pending ? `${hash}+${pending.digest}` : hash);

/** Whether calls at both blocks see the same state, without the text that {@link stateOf} makes. */
export const isSameState = (one: BlockState, other: BlockState): boolean =>
  one.hash === other.hash && one.pending?.digest === other.pending?.digest;

/** The same block being built, with none of the overrides. */
export const withoutOverrides = <B extends BlockState>(block: B & { readonly pending: PendingState }): B => ({
  ...block,
  pending: { ...block.pending, overrides: new Map(), digest: '' },
});

/** The overrides as the state overrides of `eth_call`. */
export const stateDiffs = perObject(
  (overrides: StateOverrides): Readonly<Record<Address, { stateDiff: Record<Hex, Hex> }>> =>
    Object.fromEntries([...overrides].map(([account, slots]) => [account, { stateDiff: Object.fromEntries(slots) }])),
);

/** The pending block's number and time as the block overrides of `eth_call`. */
export const blockOverrides = ({ blockNumber, timestamp }: TargetBlock) => ({
  number: `0x${blockNumber.toString(16)}` as Hex,
  time: `0x${timestamp.toString(16)}` as Hex,
});

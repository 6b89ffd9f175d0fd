import type { Address, Hex } from 'viem';
import type { Ability } from './node-abilities.ts';
import type { BlockState } from './pending-state.ts';

/** A block that calls are made at. */
export interface BlockRef extends BlockState {
  readonly number: bigint;
}

/** A block with the hashes of blocks below it. */
export interface BlockHeader extends BlockRef {
  /** Hashes of the blocks below it, the nearest first: at least one. */
  readonly parents: readonly Hex[];
}

/** What a read of a chain is bound to. All its calls see one block, named by its hash, whichever node answers. */
export interface ReadContext {
  readonly block: BlockRef;
  /** For a scheduled read, takes a call from its budget; false stops the call. Absent for all other reads. */
  readonly reserve?: (() => boolean) | undefined;
  /** Gives the calls up. */
  readonly signal?: AbortSignal | undefined;
}

/** Code put at addresses for the time of one call. */
export type CodeOverrides = ReadonlyMap<Address, Hex>;

/** What calls are bound to. */
export interface CallContext extends Omit<ReadContext, 'block'> {
  readonly block: BlockRef | 'latest' | 'pending';
  /** Gas limit of each `eth_call`. Default: what nodes allow. */
  readonly gas?: bigint | undefined;
  /** Other code at some addresses, which some nodes ignore. */
  readonly code?: CodeOverrides | undefined;
  /** What calls with this code need of nodes besides overrides: nodes that refuse them are known by it. */
  readonly needs?: Extract<Ability, 'quotes' | 'transfers'> | undefined;
}

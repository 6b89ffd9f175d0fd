import type { Address, Hex } from 'viem';
import { flatStorage } from '../../protocol/layouts/flat/storage.ts';
import { stateSlots } from '../../protocol/layouts/storage.ts';
import type { PoolState } from '../../protocol/pool-state.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { Pair, QuoteWorld } from '../quotes/quote-world.ts';
import { servedPool } from '../quotes/served-pool.ts';
import type { PoolKind } from './pool-kinds.ts';

/** A pool that was made as any pool is, and its copies: the same but for their addresses. */
export interface PoolGroup {
  readonly kind: PoolKind;
  readonly served: ServedPool;
  readonly state: PoolState;
  readonly priceProvider: Address;
  /** Number of the first copy's address. */
  readonly firstClone: number;
  readonly clones: number;
}

/** What the index and the chains file have of a chain. */
export interface SeededChain {
  readonly chainId: number;
  readonly world: QuoteWorld;
  readonly groups: readonly PoolGroup[];
  readonly pairs: readonly Pair[];
  /** The pair on which the crowd is. */
  readonly crowded: Pair;
}

/** The slot with a pool's provider. */
const PROVIDER_SLOT: Hex = '0x3';

export async function groupOf(
  { chain, deployment }: QuoteWorld,
  address: Address,
  group: Pick<PoolGroup, 'kind' | 'firstClone' | 'clones'>,
): Promise<PoolGroup> {
  const served = await servedPool(chain, deployment, address);
  const wordAt = async (slot: Hex): Promise<Hex> => (await chain.client.getStorageAt({ address, slot })) ?? '0x0';
  const words = await Promise.all(stateSlots(served.immutables).map(wordAt));
  const priceProvider: Address = `0x${(await wordAt(PROVIDER_SLOT)).slice(-40)}`;
  return { ...group, served, priceProvider, state: flatStorage.decodeState(served.immutables, words) };
}

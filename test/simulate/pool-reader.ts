import type { Address, Hex } from 'viem';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { isBlockRefusal, RpcFailure } from '../../chain/rpc-failure.ts';
import { batched } from '../../quoting/calls/batched.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { PoolReaderOptions } from '../../quoting/reads/create-pool-reader.ts';
import { UNSHARED } from '../../quoting/reads/shared-reads.ts';
import { pricedAt, withOneLevel } from '../../quoting/snapshot.fixture.ts';
import type { DepthSnapshot, HeadContext, PriceSnapshot } from '../../quoting/types.ts';
import { oracleOf, PRICE_SLOT } from './virtual-chain.ts';
import type { PricesCall } from './virtual-node.ts';

/** Index of a pool, which its address names. */
export const indexOf = (pool: string): number => Number(BigInt(pool)) - 0xa000;

/**
 * Reads the prices of pools as `PoolReader` does, but of virtual nodes, which know what prices are: what another process
 * reads is used, a block that nodes refuse is rejected, each pool costs a scheduled read one call.
 */
export function createVirtualReader(options: PoolReaderOptions) {
  const { target, heads, shared = UNSHARED, hasSource = false, readTimeoutMs } = options;
  const call = (head: HeadContext, pools: readonly ServedPool[]): Promise<string[]> => {
    const { block, reserve } = head;
    for (const _ of pools) if (reserve?.() === false) throw new RpcFailure('exhausted', 'the budget has no calls');
    const params: PricesCall = { hash: block.hash, pools: pools.map(poolIndex), overrides: overridesOf(block, pools) };
    const signal = AbortSignal.timeout(readTimeoutMs);
    return target.rpc.request('sim_prices', [params], (result) => result as string[], signal);
  };
  const readAt = async (head: HeadContext, pools: readonly ServedPool[]): Promise<PriceSnapshot[]> => {
    const of = { kind: 'answers', block: head.block, pools: pools.map(({ address }) => address) } as const;
    const read = new Promise<string[]>((resolve) => resolve(call(head, pools)));
    const prices = await shared.share(of, read, (price) => JSON.stringify(price));
    heads.confirm(head.block);
    return pools.map((pool, index) => snapshotOf(head.block, pool, prices[index] as string, hasSource));
  };
  const readBatch = async (head: HeadContext, pools: readonly ServedPool[]): Promise<PriceSnapshot[]> => {
    try {
      return await readAt(head, pools);
    } catch (error) {
      if (head.block.pending || !isBlockRefusal(error)) throw error;
      if (target.rpc.endpoints.length > 1) head.endpoint?.breaker.open();
      heads.reject(head);
      await heads.caughtUp();
      return readAt({ ...(await heads.head()), reserve: head.reserve }, pools);
    }
  };
  const own = batched(readBatch);
  return {
    async prices(head: HeadContext, { pool }: { readonly pool: ServedPool }): Promise<PriceSnapshot> {
      const found = await shared.find('answers', head.block, pool.address);
      if (typeof found !== 'string') return own(head, pool);
      heads.confirm(head.block);
      return snapshotOf(head.block, pool, found, hasSource);
    },
    depth: async (_head: HeadContext, prices: PriceSnapshot): Promise<DepthSnapshot> => withOneLevel(prices),
  };
}

const poolIndex = ({ address }: ServedPool): number => indexOf(address);

function overridesOf({ pending }: BlockRef, pools: readonly ServedPool[]): PricesCall['overrides'] {
  const found: Record<number, string> = {};
  for (const pool of pools.map(poolIndex)) {
    const word: Hex | undefined = pending?.overrides.get(oracleOf(pool) as Address)?.get(PRICE_SLOT);
    if (word !== undefined) found[pool] = `live ${BigInt(word)}`;
  }
  return found;
}

function snapshotOf(block: BlockRef, pool: ServedPool, read: string, hasSource: boolean): PriceSnapshot {
  const hasLivePrice = read.startsWith('live ');
  const price = BigInt(hasLivePrice ? read.slice(5) : read);
  return pricedAt(price, pool, block, {
    readAt: Math.floor(Date.now() / 1_000),
    hasSource,
    hasLivePrice,
    fingerprint: `${stateOf(block) === block.hash} ${price}`,
  });
}

import { type Address, type Hex, toHex } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { PoolAnswers } from '../../quoting/calls/decode-pool.ts';
import { isPricedByOverrides } from '../../quoting/calls/probe-calls.ts';
import type { PoolReaderOptions } from '../../quoting/reads/create-pool-reader.ts';
import { PoolReader, type PoolReaderDeps } from '../../quoting/reads/pool-reader.ts';
import { pricedAt, withOneLevel } from '../../quoting/snapshot.fixture.ts';
import { oracleOf, PRICE_SLOT } from './virtual-chain.ts';
import type { PricesCall } from './virtual-node.ts';

/** Index of a pool, which its address names. */
export const indexOf = (pool: string): number => Number(BigInt(pool)) - 0xa000;

/**
 * Creates the reader of a chain's pools. Virtual nodes know prices alone, and each pool costs a scheduled read one
 * call: what providers quote is the price.
 */
export function createVirtualReader(options: PoolReaderOptions): PoolReader {
  const { rpc } = options.target;
  const read: PoolReaderDeps['answers']['read'] = async ({ block, reserve, signal }, pools) => {
    for (const _ of pools) if (reserve?.() === false) throw new RpcFailure('exhausted', 'the budget has no calls');
    const params: PricesCall = { hash: block.hash, pools: pools.map(({ address }) => indexOf(address)) };
    const prices = await rpc.request('sim_prices', [params], (result) => result as readonly bigint[], signal);
    return prices.map((price, index) => answersOf(block, params.pools[index] ?? 0, price));
  };
  return new PoolReader({
    ...options,
    answers: { read },
    decode: ({ pool }, block, readAt, { quote, committedQuote }) =>
      pricedAt(BigInt(quote?.data ?? 0), pool, block, {
        readAt,
        hasLivePrice: isPricedByOverrides(quote, committedQuote),
        fingerprint: `${quote?.data}`,
      }),
    sides: { read: async (_, prices) => withOneLevel(prices).depth, curve: async () => null },
    logUnknown: () => undefined,
  });
}

/** @param committed the price without overrides */
function answersOf({ pending }: BlockRef, pool: number, committed: bigint): PoolAnswers {
  const word: Hex | undefined = pending?.overrides.get(oracleOf(pool) as Address)?.get(PRICE_SLOT);
  const of = (data: Hex) => ({ success: true, data });
  const without = of(toHex(committed, { size: 32 }));
  return { quote: word ? of(word) : without, committedQuote: pending && without };
}

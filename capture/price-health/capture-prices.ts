import { eq, sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { boundedCalls } from '../../chain/contract-calls.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { priceHealth } from '../../db/schema/operator.ts';
import { pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { deleteOtherPoolsOf, upsertRows } from '../../db/write-rows.ts';
import { balanceCall, readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { poolPriceCalls, readPoolPrice } from './pool-price.ts';

/** Pools read and stored at a time: a few `eth_call`s, so that a node is not asked for a thousand pools at once. */
const POOLS_AT_ONCE = 150;

type PoolAtChain = {
  readonly address: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly layout: string;
};
type Reading = Omit<typeof priceHealth.$inferInsert, 'capturedAt'>;

/**
 * Reads the price of every pool of a chain and its balances of both tokens, in a few calls, and stores them with the
 * status, block and time.
 *
 * @returns number of pools read
 * @throws errors of the node or the database; what was stored before stays, and grows old
 */
export async function capturePrices(database: pg.Pool, rpc: ChainRpc, chain: ChainConfig): Promise<number> {
  const pools = await poolsOf(database, chain);
  let read = 0;
  for (let start = 0; start < pools.length; start += POOLS_AT_ONCE) {
    const batch = pools.slice(start, start + POOLS_AT_ONCE);
    const readings = await readBatch(rpc, chain, batch);
    const options = { key: ['chainId', 'pool'], computed: { capturedAt: sql`now()` }, evenIfSame: true } as const;
    await upsertRows(database, priceHealth, readings, options);
    read += readings.length;
  }
  // Undone by a reorganisation, or of a deployment that was disabled.
  await deleteOtherPoolsOf(database, priceHealth, chain.chainId, pools);
  return read;
}

async function poolsOf(database: Queryable, chain: ChainConfig): Promise<PoolAtChain[]> {
  const enabled = chain.deployments.filter((deployment) => deployment.enabled);
  const layouts = new Map(enabled.map(({ poolFactory, layout }) => [poolFactory as string, layout]));
  const rows = await queriesOn(database)
    .select({ address: pools.address, token0: pools.token0, token1: pools.token1, factory: pools.factory })
    .from(pools)
    .where(eq(pools.chainId, chain.chainId))
    .orderBy(pools.address);
  return rows.flatMap(({ factory, ...pool }) => {
    const layout = layouts.get(factory);
    return layout === undefined ? [] : [{ ...pool, layout }];
  });
}

/**
 * No pool can spoil the reading of another: see `runBoundedCalls`. One that the node gave no reading of is left out, and
 * what is stored of it grows old.
 */
async function readBatch(rpc: ChainRpc, { chainId }: ChainConfig, pools: readonly PoolAtChain[]): Promise<Reading[]> {
  const groups = pools.map(({ address, token0, token1, layout }) => [
    ...poolPriceCalls(address, layoutAdapter(layout)),
    balanceCall(token0, address),
    balanceCall(token1, address),
  ]);
  const answers = await boundedCalls({ rpc, chainId }, 'latest', groups);
  return pools.flatMap(({ address, layout }, index) => {
    const answer = answers[index];
    if (!answer) return [];
    const [, , balance0, balance1] = answer.results;
    const { status, sellX64, buyX64 } = readPoolPrice(answer.results, layoutAdapter(layout));
    return {
      ...{ chainId, pool: address, status, sellPriceX64: sellX64, buyPriceX64: buyX64 },
      blockNumber: Number(answer.blockNumber),
      blockTimestamp: Number(answer.blockTimestamp),
      balance0Raw: readBalance(balance0),
      balance1Raw: readBalance(balance1),
    };
  });
}

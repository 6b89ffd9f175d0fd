import { eq } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { boundedCalls } from '../../chain/contract-calls.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { balanceCall, readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { type PoolPrice, poolPriceCalls, readPoolPrice } from './pool-price.ts';

/** Pools read and stored at a time: a few `eth_call`s, so that a node is not asked for a thousand pools at once. */
const POOLS_AT_ONCE = 150;

type PoolAtChain = {
  readonly address: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly layout: string;
};
type Reading = PoolPrice & {
  readonly address: Address;
  /** Raw units; null when the token did not answer. */
  readonly balance0: bigint | null;
  readonly balance1: bigint | null;
  readonly blockNumber: number;
  readonly blockTimestamp: number;
};

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
    await store(database, chain.chainId, readings);
    read += readings.length;
  }
  await forgetOthers(database, chain.chainId, pools);
  return read;
}

/** Takes out pools that are there no more: undone by a reorganisation, or of a deployment that was disabled. */
async function forgetOthers(database: Queryable, chainId: number, pools: readonly PoolAtChain[]): Promise<void> {
  await database.query('DELETE FROM operator.price_health WHERE chain_id = $1 AND pool <> ALL ($2)', [
    chainId,
    pools.map(({ address }) => address),
  ]);
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
    return {
      address,
      blockNumber: Number(answer.blockNumber),
      blockTimestamp: Number(answer.blockTimestamp),
      ...readPoolPrice(answer.results, layoutAdapter(layout)),
      balance0: readBalance(balance0),
      balance1: readBalance(balance1),
    };
  });
}

async function store(database: Queryable, chainId: number, readings: readonly Reading[]): Promise<void> {
  await database.query(
    `INSERT INTO operator.price_health
       (chain_id, pool, status, sell_price_x64, buy_price_x64, block_number, block_timestamp, captured_at,
        balance0_raw, balance1_raw)
     SELECT $1, pool, status, sell, buy, block_number, block_timestamp, now(), balance0, balance1
     FROM unnest($2::text[], $3::text[], $4::numeric[], $5::numeric[], $6::int8[], $7::int8[], $8::numeric[], $9::numeric[])
       AS r (pool, status, sell, buy, block_number, block_timestamp, balance0, balance1)
     ON CONFLICT (chain_id, pool) DO UPDATE SET status = excluded.status, sell_price_x64 = excluded.sell_price_x64,
       buy_price_x64 = excluded.buy_price_x64, block_number = excluded.block_number,
       block_timestamp = excluded.block_timestamp, captured_at = excluded.captured_at,
       balance0_raw = excluded.balance0_raw, balance1_raw = excluded.balance1_raw`,
    [
      chainId,
      readings.map(({ address }) => address),
      readings.map(({ status }) => status),
      readings.map(({ sellX64 }) => sellX64),
      readings.map(({ buyX64 }) => buyX64),
      readings.map(({ blockNumber }) => blockNumber),
      readings.map(({ blockTimestamp }) => blockTimestamp),
      readings.map(({ balance0 }) => balance0),
      readings.map(({ balance1 }) => balance1),
    ],
  );
}

import type pg from 'pg';
import { type Address, BaseError, HttpRequestError, type PublicClient, TimeoutError } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { callMany } from './multicall.ts';
import { CALLS_PER_POOL, type PoolPrice, poolPriceCalls, readPoolPrice } from './pool-price.ts';

/**
 * Pools per `eth_call`: a price with its provider and oracle costs up to a quarter of a million gas, and nodes give
 * 50 million by default.
 */
const POOLS_PER_CALL = 150;

type PoolAtChain = { readonly address: Address; readonly layout: string };
type Reading = PoolPrice & {
  readonly address: Address;
  readonly blockNumber: number;
  readonly blockTimestamp: number;
};

/**
 * Reads the price of every pool of a chain, in a few calls, and stores status, prices, block and time.
 *
 * @returns number of pools read
 * @throws errors of the node or the database; what was stored before stays, and grows old
 */
export async function capturePrices(database: pg.Pool, client: PublicClient, chain: ChainConfig): Promise<number> {
  const pools = await poolsOf(database, chain);
  let read = 0;
  for (let start = 0; start < pools.length; start += POOLS_PER_CALL) {
    const batch = pools.slice(start, start + POOLS_PER_CALL);
    const readings = await retryUnexplained(await readBatch(client, chain, batch), client, chain, batch);
    await store(database, chain.chainId, readings);
    read += readings.length;
  }
  return read;
}

async function poolsOf(database: Queryable, chain: ChainConfig): Promise<PoolAtChain[]> {
  const enabled = chain.deployments.filter((deployment) => deployment.enabled);
  const layouts = new Map(enabled.map(({ poolFactory, layout }) => [poolFactory as string, layout]));
  const { rows } = await database.query<{ address: string; factory: string }>(
    'SELECT address, factory FROM read_model.pool WHERE chain_id = $1 ORDER BY address',
    [chain.chainId],
  );
  return rows.flatMap(({ address, factory }) => {
    const layout = layouts.get(factory);
    return layout === undefined ? [] : [{ address: address as Address, layout }];
  });
}

/** Reads a batch; one that the node cannot run is halved, so that a single costly pool does not hide the others. */
async function readBatch(client: PublicClient, chain: ChainConfig, pools: readonly PoolAtChain[]): Promise<Reading[]> {
  try {
    return await readAtOnce(client, chain, pools);
  } catch (error) {
    if (pools.length <= 1 || isTransportFailure(error)) throw error;
    const middle = Math.ceil(pools.length / 2);
    const first = await readBatch(client, chain, pools.slice(0, middle));
    return [...first, ...(await readBatch(client, chain, pools.slice(middle)))];
  }
}

/** The node is away: a smaller call would fail as well. */
function isTransportFailure(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  return error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null;
}

async function readAtOnce(client: PublicClient, chain: ChainConfig, pools: readonly PoolAtChain[]): Promise<Reading[]> {
  const calls = pools.flatMap(({ address, layout }) => poolPriceCalls(address, layoutAdapter(layout)));
  const { results, blockNumber, blockTimestamp } = await callMany(client, chain.multicall3, calls);
  return pools.map(({ address, layout }, index) => {
    const own = results.slice(index * CALLS_PER_POOL, (index + 1) * CALLS_PER_POOL);
    return { address, blockNumber, blockTimestamp, ...readPoolPrice(own, layoutAdapter(layout)) };
  });
}

/** A reading may be empty because its neighbours used up the gas: such pools are read once more, by themselves. */
async function retryUnexplained(
  readings: readonly Reading[],
  client: PublicClient,
  chain: ChainConfig,
  pools: readonly PoolAtChain[],
): Promise<readonly Reading[]> {
  const unclear = new Set(readings.filter(({ unexplained }) => unexplained).map(({ address }) => address));
  if (unclear.size === 0 || pools.length === 1) return readings;
  const again = await readBatch(
    client,
    chain,
    pools.filter(({ address }) => unclear.has(address)),
  );
  const byAddress = new Map(again.map((reading) => [reading.address, reading]));
  return readings.map((reading) => byAddress.get(reading.address) ?? reading);
}

async function store(database: Queryable, chainId: number, readings: readonly Reading[]): Promise<void> {
  await database.query(
    `INSERT INTO operator.price_health
       (chain_id, pool, status, sell_price_x64, buy_price_x64, block_number, block_timestamp, captured_at)
     SELECT $1, pool, status, sell, buy, block_number, block_timestamp, now()
     FROM unnest($2::text[], $3::text[], $4::numeric[], $5::numeric[], $6::int8[], $7::int8[])
       AS r (pool, status, sell, buy, block_number, block_timestamp)
     ON CONFLICT (chain_id, pool) DO UPDATE SET status = excluded.status, sell_price_x64 = excluded.sell_price_x64,
       buy_price_x64 = excluded.buy_price_x64, block_number = excluded.block_number,
       block_timestamp = excluded.block_timestamp, captured_at = excluded.captured_at`,
    [
      chainId,
      readings.map(({ address }) => address),
      readings.map(({ status }) => status),
      readings.map(({ sellX64 }) => sellX64),
      readings.map(({ buyX64 }) => buyX64),
      readings.map(({ blockNumber }) => blockNumber),
      readings.map(({ blockTimestamp }) => blockTimestamp),
    ],
  );
}

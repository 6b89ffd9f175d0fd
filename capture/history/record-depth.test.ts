import type { Address } from 'viem';
import { beforeEach, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { HistoryConfig } from '../../config/chains-schema.ts';
import { swap, swapAmounts } from '../../devnet/actions.ts';
import { evenBins } from '../../devnet/pools.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import type { BinShape } from '../../protocol/pool-events.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { DISTANCES, depthByTrying, pricesOf } from '../../test/quotes/depth-by-trying.ts';
import { expectSwapGas } from '../../test/quotes/expect-swap-gas.ts';
import {
  evenShares,
  makeCutPool,
  makePool,
  movePrice,
  type Pair,
  quoteWorld,
  SHARES_OF_ONE,
  type WorldPool,
} from '../../test/quotes/quote-world.ts';
import { indexedQuotes } from '../indexed-quotes.fixture.ts';
import { createDepthRecorder, type DepthDeps, type RecordDepth } from './record-depth.ts';
import { recordQuotes } from './record-quotes.ts';

const CHAIN = 31_337;
const SIDES = [
  { name: 'bids', zeroForOne: true },
  { name: 'asks', zeroForOne: false },
] as const;

const world = quoteWorld();
const proxy = startedWorld(() => startRpcProxy(world.chain.rpcUrl));
const { home, own, index, pools, readPrices } = indexedQuotes(world, {
  rpcUrl: () => proxy.url,
  pairs: async () => [await world.pair(18, 6), await world.pair(8, 18)] as const,
});

beforeEach(async () => {
  await home.pool.query('TRUNCATE operator.price_health, history.quote_minute, history.quote_hour');
  await home.pool.query(
    'DELETE FROM onchain_test.pool; DELETE FROM onchain_test.pool_state; DELETE FROM onchain_test.pool_extension',
  );
});

async function tradedPool(pair: Pair, bins: BinShape[], notionalFeeE8 = 0): Promise<WorldPool> {
  const reach = bins.length >> 1;
  const shares = evenShares(-reach, reach, 10n * SHARES_OF_ONE);
  const pool = await makePool(world, { pair, price: 2_000, bins, shares, notionalFeeE8 });
  await swap(world.chain, world.deployment, {
    pool: pool.address,
    zeroForOne: true,
    amountSpecified: 10n ** BigInt(pair.decimals0),
  });
  await index(pool, pair);
  return pool;
}

function depthRecorder(change: Partial<DepthDeps>): RecordDepth {
  const logger = { warn: () => undefined, child: () => logger } as never;
  const { database, config } = own;
  return createDepthRecorder({
    database,
    chain: config,
    rpc: openChainRpc(config, 5_000),
    reserve: () => true,
    wallClock: () => Date.now(),
    logger,
    ...change,
  });
}

/** Reads prices, then samples; without spare calls where the budget says so. */
async function sample(persistencePools = 100, spare = () => true): Promise<void> {
  await readPrices();
  const recordDepth = depthRecorder({ reserve: spare });
  const { timestamp } = await world.chain.client.getBlock();
  const kept = { ...HistoryConfig.parse({}), persistencePools };
  await recordQuotes({ database: own.database, chainId: CHAIN, pools, kept, recordDepth }, Number(timestamp));
}

interface Row {
  readonly pool: Address;
  readonly block: string;
  readonly status: string;
  readonly bid: string;
  readonly ask: string;
  readonly bids: readonly string[] | null;
  readonly asks: readonly string[] | null;
}

const rows = async (): Promise<Row[]> =>
  (
    await own.database.query<Row>(
      `SELECT pool, block_number AS block, status, bid_x64 AS bid, ask_x64 AS ask, bid_depth_raw::text[] AS bids,
              ask_depth_raw::text[] AS asks
       FROM history.quote_minute ORDER BY block_timestamp, pool`,
    )
  ).rows;

async function rowOf({ address }: WorldPool): Promise<Row> {
  const found = (await rows()).find(({ pool }) => pool === address);
  if (!found) throw new Error('no sample');
  return found;
}

/** How the chain itself tells the depth of a pool. */
const tried = ({ address }: WorldPool) => {
  const { chain, deployment } = world;
  return { chain, address, swapRouter: deployment.swapRouter, amountsOf: swapAmounts };
};

test.each([
  ['bins of a tenth of a percent', 0, evenBins(-12, 12, 1_000), 0],
  ['narrow bins and a fee on the whole swap', 0, evenBins(-20, 20, 300), 4_000],
  ['wide bins of tokens of other decimals', 1, evenBins(-3, 3, 7_000), 0],
] as const)(
  'of a pool with %s, depth is to the unit what its own swaps leave within the distance, and gas what they take',
  async (_name, which, bins, fee) => {
    const pair = own.pairs[which];
    const pool = await tradedPool(pair, [...bins], fee);
    await sample();
    const row = await rowOf(pool);
    const { sellX64, buyX64 } = await pricesOf(tried(pool));
    expect(row).toMatchObject({ status: 'healthy', bid: String(sellX64), ask: String(buyX64) });
    expect(Number(row.block)).toBe(Number(await world.chain.client.getBlockNumber()));
    for (const { name, zeroForOne } of SIDES) {
      const depths = DISTANCES.map((bps) => depthByTrying(tried(pool), zeroForOne, bps));
      const found = (await Promise.all(depths)).map(String);
      expect(row[name]).toEqual(found);
      expect(new Set(found).size).toBeGreaterThan(2);
    }
    await expectSwapGas(own.database, tried(pool));
  },
);

test('a stop loss ends the depth where it rejects, and what is left still fills', async () => {
  const pool = await makeCutPool(world, own.pairs[0], 20, 6);
  await index(pool, own.pairs[0]);
  await sample();
  const depths = ((await rowOf(pool)).bids ?? []).map(BigInt);
  const found = await Promise.all(DISTANCES.map((bps) => depthByTrying(tried(pool), true, bps)));
  expect(depths).toHaveLength(4);
  for (const [index, depth] of depths.entries()) {
    expect(depth).toBeGreaterThan(0n);
    expect(depth).toBeLessThanOrEqual(found[index] ?? 0n);
    // The end is cautious by a little.
    expect(depth).toBeGreaterThan(((found[index] ?? 0n) * 999n) / 1_000n);
  }
  expect(found[3]).toBe(found[2]);
});

test('depth is read once a minute, of the most valuable pools; the others are sampled without', async () => {
  const spec = {
    pair: own.pairs[0],
    price: 2_000,
    bins: evenBins(-3, 3, 1_000),
    shares: evenShares(-3, 3, SHARES_OF_ONE),
  };
  const pools = [await makePool(world, spec), await makePool(world, spec), await makePool(world, spec)];
  for (const [n, pool] of pools.entries()) await index(pool, own.pairs[0], BigInt(n + 1) * 10n ** 30n);
  const { timestamp } = await world.chain.client.getBlock();
  const minute = timestamp - (timestamp % 60n) + 60n;
  await world.chain.client.setNextBlockTimestamp({ timestamp: minute });
  await world.chain.client.mine({ blocks: 1 });
  let calls = 0;
  const count = () => ++calls > 0;
  await sample(2, count);
  const withDepth = async () => (await rows()).filter(({ bids, asks }) => bids && asks).map(({ pool }) => pool);
  expect(await rows()).toHaveLength(3);
  expect(new Set(await withDepth())).toEqual(new Set(pools.slice(1).map(({ address }) => address)));
  expect(calls).toBeLessThanOrEqual(8);
  await world.chain.client.setNextBlockTimestamp({ timestamp: minute + 30n });
  await world.chain.client.mine({ blocks: 1 });
  calls = 0;
  await sample(2, count);
  expect(await rows()).toHaveLength(3);
  expect(calls).toBe(0);
});

test('without spare calls, or when a node fails, prices are sampled without depth', async () => {
  const pool = await tradedPool(own.pairs[0], evenBins(-3, 3, 1_000));
  let spare = 2;
  await sample(100, () => spare-- > 0);
  expect(await rowOf(pool)).toMatchObject({ status: 'healthy', bids: null, asks: null });

  await home.pool.query('TRUNCATE history.quote_minute');
  let reads = 0;
  proxy.misbehave({ kind: 'down' }, ({ method }) => method === 'eth_call' && ++reads > 1);
  await expect(sample()).rejects.toThrow();
  proxy.misbehave(null);
  expect(await rowOf(pool)).toMatchObject({ status: 'healthy', bids: null, asks: null });

  await movePrice(world, pool, 2_010);
  const { timestamp } = await world.chain.client.getBlock();
  await world.chain.client.setNextBlockTimestamp({ timestamp: timestamp + 60n });
  await world.chain.client.mine({ blocks: 1 });
  await sample();
  expect((await rows()).map(({ bids }) => bids !== null)).toEqual([false, true]);
});

test('gas is as old as its measurement: it is measured once an hour', async () => {
  const pool = await tradedPool(own.pairs[0], evenBins(-3, 3, 1_000));
  await readPrices();
  let passed = 0;
  const recordDepth = depthRecorder({ wallClock: () => Date.now() + passed });
  const age = `SELECT extract(epoch FROM now() - gas_at)::int AS secs FROM operator.price_health`;
  const ageAfterRun = async () => {
    await recordDepth([pool.address]);
    const [row] = (await own.database.query<{ secs: number | null }>(age)).rows;
    await own.database.query("UPDATE operator.price_health SET gas_at = now() - interval '1 day'");
    return row?.secs;
  };
  expect(await ageAfterRun()).toBeLessThan(3_600);
  expect(await ageAfterRun()).toBeGreaterThan(3_600);
  passed = 3_600_000;
  expect(await ageAfterRun()).toBeLessThan(3_600);
});

import { encodeFunctionData, parseEventLogs, type TransactionReceipt } from 'viem';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { DeploymentConfig } from '../../config/chains-schema.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { routerAbi } from '../../devnet/abi.ts';
import { noPriceLimit, sendSwap } from '../../devnet/actions.ts';
import { mined, minedTogether, submit, takenBack } from '../../devnet/dev-chain.ts';
import { evenBins } from '../../devnet/pools.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { swap as swapTable } from '../../indexer/ponder.schema.ts';
import { flatPoolEvents } from '../../protocol/layouts/flat/pool-abi.ts';
import { migratedDatabase } from '../../test/harness/migrated-database.ts';
import { createOnchainTables, ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { openWorld, startedWorld } from '../../test/harness/open-world.ts';
import { FACTORY, openSeeder, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import {
  chainConfig,
  evenShares,
  makePool,
  movePrice,
  quoteWorld,
  SHARES_OF_ONE,
  type WorldPool,
} from '../../test/quotes/quote-world.ts';
import { readPoolValues } from '../read-schedule/pool-values.ts';
import { recordFills } from './record-fills.ts';

const CHAIN = 31_337;
const DAY = 86_400;

const world = quoteWorld();
const home = migratedDatabase();
const pair = openWorld(() => world.pair(18, 6));
const proxy = startedWorld(() => startRpcProxy(world.chain.rpcUrl));
const seeder = openWorld(async (ends) => ends.adopt(openSeeder(home.url), (opened) => opened.end()));

beforeAll(async () => {
  // What is counted by day is of one day.
  const { timestamp } = await world.chain.client.getBlock();
  const day = BigInt(DAY);
  await world.chain.client.setNextBlockTimestamp({ timestamp: timestamp - (timestamp % day) + day + day / 2n });
  await createOnchainTables(home.pool);
  for (const address of [pair.token0, pair.token1]) await seedToken(seeder.db, { chainId: CHAIN, address });
  await home.pool.query("INSERT INTO operator.fiat_price VALUES ($1, $2, 1, 'static', now())", [CHAIN, pair.token0]);
});

beforeEach(async () => {
  await home.pool.query(`TRUNCATE history.fill, history.trade_bar, history.trade_mark, ${ONCHAIN_SCHEMA}.swap`);
});

async function fundedPool(): Promise<WorldPool> {
  const shares = evenShares(-3, 3, 100n * SHARES_OF_ONE);
  const pool = await makePool(world, { pair, price: 2_000, bins: evenBins(-3, 3, 1_000), shares });
  const row = { chainId: CHAIN, address: pool.address, factory: FACTORY, token0: pair.token0, token1: pair.token1 };
  await seedPools(seeder.db, [{ pool: row, state: { balance0Raw: 10n ** 30n } }]);
  return pool;
}

/** Indexes the swaps of these transactions, as they are logged, up to the head. */
async function index(receipts: readonly TransactionReceipt[]): Promise<void> {
  for (const { logs, blockNumber, transactionHash, transactionIndex, from: transactionFrom } of receipts) {
    const block = await world.chain.client.getBlock({ blockNumber });
    for (const { args, address, logIndex } of parseEventLogs({ abi: flatPoolEvents, eventName: 'Swap', logs })) {
      const { amount0Delta: amount0Raw, amount1Delta: amount1Raw } = args;
      const place = { chainId: CHAIN, blockNumber: Number(blockNumber), blockTimestamp: Number(block.timestamp) };
      const pool = address.toLowerCase() as typeof address;
      const sent = { sender: args.sender, recipient: args.recipient, transactionIndex, transactionFrom };
      const who = { ...sent, exactInput: args.exactInput };
      const moved = { zeroForOne: amount0Raw > 0n, amount0Raw, amount1Raw, parts: '{}' };
      await seeder.db.insert(swapTable).values({ ...place, logIndex, transactionHash, pool, ...who, ...moved });
    }
  }
  await indexHead(false);
}

async function indexHead(isFinal: boolean): Promise<void> {
  const { number, timestamp } = await world.chain.client.getBlock();
  await setIndexedBlock(home.pool, { chainId: CHAIN, number: Number(number), timestamp: Number(timestamp), isFinal });
}

/** Says that all blocks are final, and writes what follows. */
async function settle(): Promise<void> {
  await world.chain.client.increaseTime({ seconds: 180 });
  await world.chain.client.mine({ blocks: 1 });
  await indexHead(true);
  await record();
  await writeTradeMinutes(home.pool);
}

function record(hasSpareCalls = () => true): Promise<number> {
  const release = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: FACTORY };
  const deployments = [DeploymentConfig.parse(release)];
  const config = chainConfig(CHAIN, [proxy.url], { deployments });
  const rpc = openChainRpc(config, 5_000);
  return recordFills({
    database: home.pool,
    chainId: CHAIN,
    rpc,
    hasSpareCalls,
    pools: () => readPoolValues(home.pool, config),
  });
}

const sell = ({ address }: WorldPool, amountSpecified: bigint) =>
  sendSwap(world.chain, world.deployment, { pool: address, zeroForOne: true, amountSpecified });
const buy = ({ address }: WorldPool, amountSpecified: bigint) =>
  sendSwap(world.chain, world.deployment, { pool: address, zeroForOne: false, amountSpecified });

function submitSale({ address }: WorldPool, amount: bigint) {
  const args = [address, true, amount, noPriceLimit(true)] as const;
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'swap', args });
  return submit(world.chain, {
    from: world.chain.roles.trader,
    to: world.deployment.swapRouter,
    data,
    gas: 2_000_000n,
  });
}

const fills = async () => {
  const { rows } = await home.pool.query(
    'SELECT quoted_out_raw::text AS quoted, out_raw::text AS got, vs_quote_bps::float8 AS bps, is_final FROM read_model.swap_fills() ORDER BY block_number, log_index',
  );
  return rows;
};

const inputOf = async (place: number): Promise<bigint> => {
  const { rows } = await home.pool.query('SELECT in_raw FROM history.fill ORDER BY block_number OFFSET $1 LIMIT 1', [
    place,
  ]);
  return BigInt(rows[0].in_raw);
};

const quality = async () => {
  const { rows } = await home.pool.query('SELECT * FROM read_model.fill_quality ORDER BY pool, day_ts');
  return rows;
};

/** What an amount gives at the head: the swap itself, taken back. */
const outputNow = (pool: WorldPool, amount: bigint): Promise<bigint> =>
  takenBack(world.chain, async () => {
    const { logs } = await sell(pool, amount);
    const [event] = parseEventLogs({ abi: flatPoolEvents, eventName: 'Swap', logs });
    if (!event) throw new Error('no swap');
    return -event.args.amount1Delta;
  });

test('swaps of an honest pool in blocks of their own got what it quoted to the unit, in both directions, exact inputs and outputs', async () => {
  const pool = await fundedPool();
  const receipts = [
    await sell(pool, 10n ** 18n),
    await sell(pool, 7n * 10n ** 16n + 3n),
    await sell(pool, -5_000_001n),
    await buy(pool, 3_000_000_007n),
    await buy(pool, -(10n ** 17n)),
    await sell(pool, 150n * 10n ** 18n),
  ];
  await index(receipts);
  expect(await record()).toBe(6);
  const found = await fills();
  const isExactOutput = [false, false, true, false, true, false];
  for (const [i, { quoted, got, bps }] of found.entries()) {
    if (!isExactOutput[i]) expect([quoted, bps]).toEqual([got, 0]);
    // What the last unit of the input buys, which an exact output leaves over.
    const perUnit = BigInt(quoted) / (await inputOf(i)) + 1n;
    expect(BigInt(quoted) - BigInt(got)).toBeLessThanOrEqual(perUnit);
    expect(Math.abs(bps)).toBeLessThan(0.01);
  }
  expect(await record()).toBe(0);
  expect(await quality()).toEqual([]);
  await settle();
  expect(await quality()).toMatchObject([
    {
      pool: pool.address,
      compared_count: '6',
      swap_count: '6',
      median_bps: 0,
      within_1bp_share: 1,
      worse_share: 0,
      unknown_share: 0,
    },
  ]);
});

test('a pool whose price is moved against each taker, in the block of the swap, shows up within a day', async () => {
  const [moved, honest] = [await fundedPool(), await fundedPool()];
  const expected: bigint[] = [];
  const hashes: `0x${string}`[] = [];
  let price = 2_000;
  for (let i = 0; i < 5; i++) {
    expected.push(await outputNow(moved, 10n ** 17n));
    price *= 0.995;
    const lower = price;
    await minedTogether(world.chain, async () => {
      void movePrice(world, moved, lower);
      const pending = async () => (await world.chain.client.getTxpoolStatus()).pending;
      await expect.poll(pending).toBe(1);
      hashes.push(await submitSale(moved, 10n ** 17n));
      hashes.push(await submitSale(honest, 10n ** 17n));
    });
  }
  await index(await Promise.all(hashes.map((hash) => mined(world.chain, hash))));
  await record();
  await settle();
  const { rows } = await home.pool.query(
    'SELECT quoted_out_raw::text AS quoted FROM history.fill WHERE pool = $1 ORDER BY block_number',
    [moved.address],
  );
  expect(rows.map(({ quoted }) => BigInt(quoted))).toEqual(expected);
  const of = (pool: WorldPool, row: { pool: string }) => row.pool === pool.address;
  const days = await quality();
  const bad = days.filter((row) => of(moved, row));
  expect(bad.length).toBeGreaterThan(0);
  for (const day of bad) {
    expect(day).toMatchObject({ worse_share: 1, within_1bp_share: 0, unknown_share: 0 });
    expect(day.median_bps).toBeCloseTo(-50, 0);
  }
  for (const day of days.filter((row) => of(honest, row))) {
    expect(day).toMatchObject({ worst_bps: 0, worse_share: 0, within_1bp_share: 1 });
    expect(Number(day.day_ts) % DAY).toBe(0);
  }
});

test('a second swap in a block, and more than ten in a minute, are unknown and counted as unknown', async () => {
  const pool = await fundedPool();
  const hashes: `0x${string}`[] = [];
  await minedTogether(world.chain, async () => {
    for (let i = 0; i < 3; i++) hashes.push(await submitSale(pool, 10n ** 15n));
  });
  await index(await Promise.all(hashes.map((hash) => mined(world.chain, hash))));
  expect(await record()).toBe(1);
  await settle();
  expect(await quality()).toMatchObject([{ compared_count: '1', swap_count: '3', worst_bps: 0 }]);
  expect((await quality())[0].unknown_share).toBeCloseTo(2 / 3);

  const { timestamp } = await world.chain.client.getBlock();
  await world.chain.client.setNextBlockTimestamp({ timestamp: timestamp - (timestamp % 60n) + 120n });
  const many: TransactionReceipt[] = [];
  for (let i = 0; i < 13; i++) many.push(await sell(pool, 10n ** 15n));
  await index(many);
  expect(await record()).toBe(10);
  // The first of the minute are no longer recent, the last ones are.
  await world.chain.client.mine({ blocks: 92 });
  await indexHead(false);
  expect(await record()).toBe(0);
});

test('a node that fails loses nothing: the next run reads the rest', async () => {
  const pool = await fundedPool();
  await index([await sell(pool, 10n ** 15n), await sell(pool, 10n ** 15n)]);
  let calls = 0;
  proxy.misbehave({ kind: 'down' }, ({ method }) => method === 'eth_call' && ++calls > 2);
  await expect(record()).rejects.toThrow();
  proxy.misbehave(null);
  expect(await fills()).toHaveLength(1);
  expect(await record()).toBe(1);
  expect((await fills()).map(({ bps }) => bps)).toEqual([0, 0]);
});

test('without spare calls in the budget swaps wait', async () => {
  const pool = await fundedPool();
  await index([await sell(pool, 10n ** 15n), await sell(pool, 10n ** 15n), await sell(pool, 10n ** 15n)]);
  let spare = 1;
  expect(await record(() => spare-- > 0)).toBe(1);
  expect(await record(() => false)).toBe(0);
  expect(await record()).toBe(2);
});

test('a quote at a block that was undone is removed when its place became final, and a swap that changed is read again', async () => {
  const pool = await fundedPool();
  await index([await sell(pool, 10n ** 15n)]);
  expect(await record()).toBe(1);
  // The same transaction at the same place, with another input.
  await home.pool.query(`UPDATE ${ONCHAIN_SCHEMA}.swap SET amount0_raw = amount0_raw * 2`);
  expect(await fills()).toEqual([]);
  expect(await record()).toBe(1);
  expect(await fills()).toHaveLength(1);
  await home.pool.query('UPDATE history.fill SET parent_hash = $1', [`0x${'ab'.repeat(32)}`]);
  await settle();
  // It is recent still, and read again at the block that is final.
  await record();
  const { rows } = await home.pool.query('SELECT parent_hash FROM history.fill');
  expect(rows).not.toContainEqual({ parent_hash: `0x${'ab'.repeat(32)}` });
});

import { type Address, numberToHex } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { captureJobs } from '../../capture/capture-jobs.ts';
import type { Backlog } from '../../chain/read-schedule/read-scheduler.ts';
import { ChainsFile } from '../../config/chains-schema.ts';
import { administer, balanceOf, sellAndBuyPrices, swap } from '../../devnet/actions.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { type ExtensionSpec, evenBins, stopLossExtension, velocityExtension } from '../../devnet/pools.ts';
import { deployManualProvider, silenceFeed } from '../../devnet/providers.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { createLogger } from '../../runtime/logger.ts';
import { migratedDatabase } from '../harness/migrated-database.ts';
import { createOnchainTables, ONCHAIN_SCHEMA } from '../harness/onchain-tables.ts';
import { openWorld } from '../harness/open-world.ts';
import { FACTORY, seedAddress } from '../harness/seed-pools.ts';
import { pass, stopTime, until } from '../harness/stopped-time.ts';
import { gasHogPool, maliciousPool, poolBehind, turnIntoGasHog } from './hostile-pools.ts';
import { deploymentsOf, PriceCaptures } from './price-captures.ts';
import {
  chainConfig,
  evenShares,
  makePool,
  movePrice,
  priceX64,
  quoteWorld,
  SHARES_OF_ONE,
  startQuoteWorld,
  type WorldPool,
} from './quote-world.ts';

/** Of a node's answer. */
const LIMIT_MS = 1_500;
/** More than one call can pay for, at three million each, and than one call holds. */
const HOGS = 25;
const HEALTHY = 100;
/** More than a call of the least budget pays for. */
const BURNERS = 6;
/** Pools of two tokens that burn all they may, half a million each: more than one call can pay for. */
const OF_HOG_TOKENS = 45;

const world = quoteWorld();
const database = migratedDatabase();
const pair = openWorld(() => world.pair(18, 6));

const captures = new PriceCaptures(world, database);

beforeAll(() => createOnchainTables(database.pool));

const plainPool = (): Promise<WorldPool> =>
  makePool(world, { pair, price: 2_000, bins: evenBins(-1, 1, 1_000), shares: new Map() });

test('a first node that hangs costs the first rounds one time limit each, later rounds nothing', async () => {
  const { address } = await plainPool();
  await captures.seed([address], pair);
  const proxy = await startRpcProxy(world.anvil.url);
  proxy.misbehave({ kind: 'hanging' });
  const chain = chainConfig(31337, [proxy.url, world.anvil.url], { deployments: deploymentsOf(FACTORY) });
  const settings = { fiatMaxAgeSecs: 60, statusMaxAgeSecs: 60, llamaUrl: 'http://127.0.0.1:1' };
  const file = ChainsFile.parse({ chains: [chain], quotes: { rpcTimeoutMs: LIMIT_MS } });
  // A node that failed is left alone for half a second: a busy machine may need more for a round.
  stopTime();
  const jobs = captureJobs({ file, database: database.pool, ...settings, logger: createLogger('capture', 'silent') });
  const prices = jobs.find(({ name }) => name === 'price-health-others-31337');
  for (let round = 1; round <= 3; round++) {
    await pass(1);
    const run = prices?.run();
    await until(() => proxy.requests.length === round);
    await pass(LIMIT_MS);
    expect(await run).toBe(1);
  }
  await pass(1);
  expect(await prices?.run()).toBe(1);
  expect(proxy.requests).toHaveLength(3);
  await proxy.stop();
});

test('every pool has its own status and prices, whatever gas the providers beside it burn', async () => {
  const { chain, deployment } = world;
  const [first, down, paused] = [await plainPool(), await plainPool(), await plainPool()];
  await silenceFeed(chain, deployment, down.feed, 'takeDown');
  await administer(chain, deployment, { from: chain.roles.curator, functionName: 'pausePool', args: [paused.address] });
  const crossed = await poolBehind(world, pair, await deployManualProvider(chain, pair, { bidX64: 5n, askX64: 5n }));
  const malicious = await maliciousPool(world, pair, { victim: first.address, gift: 1n, gasLeft: 30_000n });
  const provider = await deployManualProvider(chain, pair, { bidX64: priceX64(2), askX64: priceX64(3) });
  const hogs: Address[] = [];
  for (let count = 0; count < HOGS; count++) hogs.push(await gasHogPool(world, pair));
  const healthy = [first.address, malicious];
  for (let count = 0; count < HEALTHY; count++) healthy.push(await poolBehind(world, pair, provider));
  await captures.seed([...healthy, ...hogs, down.address, paused.address, crossed], pair);

  expect(await captures.capture()).toBe(1 + healthy.length + hogs.length + 3);
  const rows = await captures.captured();
  const head = await chain.client.getBlock();
  for (const pool of healthy) {
    const prices = await sellAndBuyPrices(chain, pool);
    if ('refusal' in prices) throw new Error(`${pool} gives no prices`);
    const { sellX64, buyX64 } = prices;
    expect(rows.get(pool)).toMatchObject({
      status: 'healthy',
      sell_price_x64: sellX64.toString(),
      buy_price_x64: buyX64.toString(),
      block_number: head.number.toString(),
      block_timestamp: head.timestamp.toString(),
    });
  }
  const statusOf = (pool: Address) => rows.get(pool)?.status;
  expect(new Set(hogs.map(statusOf))).toEqual(new Set(['feed_down']));
  expect([down.address, paused.address, crossed].map(statusOf)).toEqual(['feed_down', 'pool_paused', 'pool_refused']);
  expect(rows.get(hogs[0] as Address)).toMatchObject({ sell_price_x64: null, buy_price_x64: null });
});

test('every pool has the balances that its tokens report, and null of a token that does not answer', async () => {
  const { chain } = world;
  const [hogs, halfHogs] = [await world.pair(18, 6), await world.pair(18, 6)];
  const funded = { price: 2_000, bins: evenBins(-1, 1, 1_000), shares: evenShares(-1, 1, SHARES_OF_ONE) };
  const [plain, half] = [
    await makePool(world, { ...funded, pair }),
    await makePool(world, { ...funded, pair: halfHogs }),
  ];
  const provider = await deployManualProvider(chain, hogs, { bidX64: priceX64(2), askX64: priceX64(3) });
  const ofHogs: Address[] = [];
  for (let count = 0; count < OF_HOG_TOKENS; count++) ofHogs.push(await poolBehind(world, hogs, provider));
  for (const token of [hogs.token0, hogs.token1, halfHogs.token0]) await turnIntoGasHog(world, token);
  await captures.seed(ofHogs, hogs);
  await captures.seed([half.address], halfHogs);
  await captures.seed([plain.address], pair);

  await captures.capture();
  const rows = await captures.captured();
  const rawBalance = async (token: Address, pool: Address) => (await balanceOf(chain, token, pool)).toString();
  for (const pool of ofHogs) {
    expect(rows.get(pool)).toMatchObject({ status: 'healthy', balance0_raw: null, balance1_raw: null });
  }
  expect(rows.get(half.address)).toMatchObject({
    status: 'healthy',
    balance0_raw: null,
    balance1_raw: await rawBalance(halfHogs.token1, half.address),
  });
  const balances = [await rawBalance(pair.token0, plain.address), await rawBalance(pair.token1, plain.address)];
  expect(balances).not.toContain('0');
  expect(rows.get(plain.address)).toMatchObject({ balance0_raw: balances[0], balance1_raw: balances[1] });
  const view = 'SELECT balance0_raw, balance1_raw FROM read_model.pool_balance WHERE chain_id = 31337 AND pool = $1';
  expect(Object.values((await database.pool.query(view, [plain.address])).rows[0])).toEqual(balances);
});

test('a read at an older block never replaces one at a newer block, until that one is too old to count', async () => {
  const { address } = await plainPool();
  await captures.seed([address], pair);
  const older = await world.chain.client.getBlockNumber();
  await world.chain.client.mine({ blocks: 2 });
  await captures.capture();
  const before = (await captures.captured()).get(address);
  expect(before?.block_number).toBe(String(older + 2n));
  const behind = await startRpcProxy(world.anvil.url);
  behind.misbehave({ kind: 'staleHead', block: numberToHex(older) });
  try {
    await Promise.all([captures.capture(behind.url), captures.capture(), captures.capture(behind.url)]);
    expect((await captures.captured()).get(address)).toMatchObject({
      block_number: before?.block_number,
      status: 'healthy',
    });
    await captures.capture(behind.url);
    expect((await captures.captured()).get(address)?.block_number).toBe(before?.block_number);
    // As after a rollback of the chain.
    await database.pool.query(`UPDATE operator.price_health SET captured_at = captured_at - interval '1 minute'`);
    await captures.capture(behind.url);
    expect((await captures.captured()).get(address)?.block_number).toBe(String(older));
  } finally {
    await behind.stop();
  }
});

test('what a node that stands still says again becomes stale, until its next block', async () => {
  const { address } = await plainPool();
  await captures.seed([address], pair);
  await captures.capture();
  const age = async () => {
    const text =
      'SELECT extract(epoch FROM now() - captured_at)::float8 AS secs FROM operator.price_health WHERE pool = $1';
    return (await database.pool.query<{ secs: number }>(text, [address])).rows[0]?.secs;
  };
  await database.pool.query(`UPDATE operator.price_health SET captured_at = captured_at - interval '1 hour'`);
  await captures.capture();
  expect(await age()).toBeGreaterThan(3_599);
  await world.chain.client.mine({ blocks: 1 });
  await captures.capture();
  expect(await age()).toBeLessThan(3_599);
});

test('a node of another chain is an error, and what was captured before stays', async () => {
  const before = await captures.captured();
  const elsewhere = await startQuoteWorld(31338);
  try {
    await expect(captures.capture(elsewhere.anvil.url)).rejects.toThrow(
      'a node of chain 31337 answers for chain 31338',
    );
  } finally {
    await elsewhere.stop();
  }
  expect(await captures.captured()).toEqual(before);
});

test('a pool is closed when guards refuse the first unit of both sides, and not when they refuse one, also at a restart', async () => {
  const { chain, deployment } = world;
  const burning = await deployContract(chain, 'GasHog', [0n]);
  const stopLoss = (drawdownE6: number) =>
    stopLossExtension(deployment, { drawdownE6, decayPerSecondE8: 0, timelockSecs: 100 });
  const make = (...extensions: readonly ExtensionSpec[]) =>
    makePool(world, {
      pair,
      price: 2_000,
      bins: evenBins(-5, 5, 1_000),
      extensions,
    });
  const trade = ({ address }: WorldPool, zeroForOne: boolean, amountSpecified: bigint) =>
    swap(chain, deployment, { pool: address, zeroForOne, amountSpecified });
  const open = await make(stopLoss(50_000));
  const [oneSided, stopped] = [await make(stopLoss(10_000)), await make(stopLoss(1))];
  for (const pool of [oneSided, stopped]) await trade(pool, true, 5n * 10n ** 17n);
  await trade(oneSided, false, 500n * 10n ** 6n);
  for (const pool of [oneSided, stopped]) await movePrice(world, pool, 2_000 * 1.03);
  await trade(stopped, false, 100n * 10n ** 6n);
  await movePrice(world, stopped, 2_000 * 1.01);
  const burnt = await make({ address: burning, phases: ['beforeSwap'] });
  const jumpy = await make(velocityExtension(deployment, 10n ** 15n));
  await trade(jumpy, true, 10n ** 17n);
  await movePrice(world, jumpy, 2_000 * 1.004);

  const factory = seedAddress(0xfab);
  const pools = [open, oneSided, stopped, burnt, jumpy];
  await captures.seed(
    pools.map(({ address }) => address),
    pair,
    { factory },
  );
  const { stopLoss: loss, priceVelocityGuard } = deployment;
  const guards = [loss, loss, loss, burning, priceVelocityGuard];
  for (const [index, { address }] of pools.entries()) {
    await database.pool.query(`INSERT INTO ${ONCHAIN_SCHEMA}.pool_extension VALUES (31337, $1, 1, $2, $3, 1, 1)`, [
      address,
      guards[index]?.toLowerCase(),
      [guards[index] === loss ? 'afterSwap' : 'beforeSwap'],
    ]);
  }
  expect(await captures.closedPools(factory)).toEqual(new Set([stopped, burnt, jumpy].map(({ address }) => address)));

  const deployments = deploymentsOf(factory).map((each) => ({ ...each, stopLoss: loss, priceVelocityGuard }));
  const file = ChainsFile.parse({ chains: [chainConfig(31337, [world.anvil.url], { deployments })] });
  const settings = { fiatMaxAgeSecs: 60, statusMaxAgeSecs: 60, llamaUrl: 'http://127.0.0.1:1' };
  const start = () => {
    const jobs = captureJobs({ file, database: database.pool, ...settings, logger: createLogger('capture', 'silent') });
    return async (...names: readonly string[]) => {
      for (const name of names) await jobs.find((job) => job.name === `${name}-others-31337`)?.run();
      const rows = await captures.captured();
      return new Set(pools.map(({ address }) => address).filter((pool) => rows.get(pool)?.status === 'pool_refused'));
    };
  };
  const closed = new Set([stopped, burnt, jumpy].map(({ address }) => address));
  expect(await start()('guards', 'transfers', 'price-health')).toEqual(closed);
  await chain.client.mine({ blocks: 20 });
  expect(await captures.closedPools(factory)).toEqual(new Set([stopped, burnt].map(({ address }) => address)));
  // After a restart, until probes have come to each pool.
  const restarted = start();
  expect(await restarted('price-health')).toEqual(closed);
  await chain.client.mine({ blocks: 1 });
  expect(await restarted('transfers', 'guards', 'price-health')).toEqual(
    new Set([stopped, burnt].map(({ address }) => address)),
  );
});

test('funded pools are read in every run, and burners beside them only as far as their share goes', async () => {
  const { chain } = world;
  const priced = await world.pair(18, 6);
  const honest: Address[] = [];
  const spec = { pair: priced, price: 2_000, bins: evenBins(-1, 1, 1_000), shares: evenShares(-1, 1, SHARES_OF_ONE) };
  for (let count = 0; count < 3; count++) honest.push((await makePool(world, spec)).address);
  const burners: Address[] = [];
  for (let count = 0; count < BURNERS; count++) burners.push(await gasHogPool(world, priced));
  const factory = seedAddress(0xfad);
  await captures.seed(burners, priced, { factory });
  await captures.seed(honest, priced, { factory, balance0Raw: 10n ** 18n });
  await database.pool.query(`INSERT INTO operator.fiat_price VALUES (31337, $1, 2000, 'static', now())`, [
    priced.token0,
  ]);

  let time = 0;
  let calls = 0;
  const backlogs = new Map<string, Backlog>();
  const rounds = captures.priceCapture({ factory, callsPerMinute: 40, now: () => time }, () => (calls += 1), backlogs);
  let seen = await captures.captured();
  for (time = 0; time < 60_000; time += 15_000) {
    await chain.client.mine({ blocks: 1 });
    expect(await rounds('funded')).toBe(honest.length);
    await rounds('remaining');
    seen = await captures.captured();
    const row = { status: 'healthy', is_funded: true, block_number: String(await chain.client.getBlockNumber()) };
    for (const pool of honest) expect(seen.get(pool)).toMatchObject(row);
  }
  expect(calls).toBeLessThanOrEqual(40 - 4);
  const read = burners.filter((pool) => seen.has(pool));
  expect(read.length).toBeGreaterThan(0);
  for (const pool of read) expect(seen.get(pool)).toMatchObject({ status: 'feed_down', is_funded: false });
  expect(backlogs.get('funded')).toMatchObject({ reads: 3, overdue: 0 });
  expect(backlogs.get('remaining')?.backoff).toBeGreaterThan(0);
});

import { Hono } from 'hono';
import pg from 'pg';
import { Registry } from 'prom-client';
import type { Address, Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { actAs } from '../../db/process-roles.ts';
import { feeCollection, liquidityChange, poolActivity, swap } from '../../indexer/ponder.schema.ts';
import { arrayLiteral } from '../../indexer/schema/number-list.ts';
import { loginUrl } from '../../local/services/process-logins.ts';
import { FLAT_FEE_TOTALS, TOTAL, TOTAL_NAMES, type TotalName } from '../../protocol/pool-totals.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { ONCHAIN_SCHEMA, publishLiveViews, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { FACTORY, seedAddress, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { swapRow } from '../../test/metadata/traded-pool.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { adaptersResource } from './adapters.ts';
import { EventsAnswer, FactoryPairAnswer, PairAnswer, type SiteEvent } from './messages.ts';

const DAY = 1_794_873_600;
const [WETH, USDC, NAMELESS, ODD] = [seedAddress(0x70), seedAddress(0x71), seedAddress(0x72), seedAddress(0x73)];
const UNKNOWN = seedAddress(0x74);
/** What each pool trades for WETH, and for whose sake. */
const POOLS = {
  plain: { address: seedAddress(0x1001), token1: USDC },
  nameless: { address: seedAddress(0x1002), token1: NAMELESS },
  odd: { address: seedAddress(0x1003), token1: ODD },
  unknown: { address: seedAddress(0x1004), token1: UNKNOWN },
  delisted: { address: seedAddress(0x1005), token1: USDC },
  differing: { address: seedAddress(0x1006), token1: USDC },
  packed: { address: seedAddress(0x1007), token1: USDC },
  other: { address: seedAddress(0x1008), token1: USDC, factory: seedAddress(0xf0) },
} as const;
const [ETHER, DOLLAR] = [10n ** 18n, 10n ** 6n];

interface Logged {
  readonly pool: keyof typeof POOLS;
  readonly block: number;
  readonly log: number;
  readonly amounts: readonly [bigint, bigint];
  readonly kind?: 'swap' | 'liquidity' | 'fees';
  /** Place of its transaction; default: that of its log. */
  readonly sentAt?: number;
}

/** Three blocks a second, from the day's first. */
const timeOf = (block: number) => DAY + Math.floor(block / 3);

const LOGS: readonly Logged[] = [
  // The pool's creation block: liquidity and swaps, several in one transaction.
  { pool: 'plain', block: 300, log: 1, amounts: [100n * ETHER, 300_000n * DOLLAR], kind: 'liquidity', sentAt: 0 },
  { pool: 'plain', block: 300, log: 4, amounts: [ETHER, -2_998_500_000n], sentAt: 1 },
  { pool: 'plain', block: 300, log: 9, amounts: [-ETHER / 3n, 1_000_000_001n], sentAt: 1 },
  // The same second, the next block.
  { pool: 'plain', block: 301, log: 0, amounts: [3n, -1n] },
  { pool: 'packed', block: 301, log: 2, amounts: [ETHER, 2n * DOLLAR], kind: 'liquidity' },
  { pool: 'plain', block: 302, log: 2, amounts: [-5n * ETHER, -7n], kind: 'fees' },
  { pool: 'plain', block: 302, log: 3, amounts: [ETHER, 0n] },
  { pool: 'plain', block: 310, log: 0, amounts: [0n, 0n], kind: 'liquidity' },
  { pool: 'plain', block: 310, log: 1, amounts: [-50n * ETHER, 0n], kind: 'liquidity' },
  { pool: 'packed', block: 311, log: 0, amounts: [-1n, 1n] },
  { pool: 'packed', block: 311, log: 1, amounts: [-2n * ETHER, -3n * DOLLAR], kind: 'fees' },
  { pool: 'packed', block: 311, log: 2, amounts: [5n, -3n] },
  { pool: 'packed', block: 315, log: 0, amounts: [0n, -1n], kind: 'fees' },
  ...(['nameless', 'odd', 'unknown', 'delisted', 'differing', 'other'] as const).map((pool, log) => ({
    pool,
    block: 320,
    log,
    amounts: [ETHER, -DOLLAR] as const,
  })),
  { pool: 'plain', block: 1_400, log: 0, amounts: [-ETHER, 3_001_000_000n] },
];
const HEAD = 1_600;
const FINAL = 1_500;

const opened = startedWorld(async () => {
  const listing = await openListing();
  await seedToken(listing.db, { chainId: CHAIN_A, address: WETH, symbol: 'WETH', name: 'Wrapped Ether' });
  await seedToken(listing.db, { chainId: CHAIN_A, address: USDC, symbol: 'USDC', name: null, decimals: 6 });
  await seedToken(listing.db, { chainId: CHAIN_A, address: NAMELESS, symbol: '\u200b', name: 'Nobody' });
  await seedToken(listing.db, { chainId: CHAIN_A, address: ODD, symbol: 'ODD', decimals: null });
  await seedPools(
    listing.db,
    Object.values(POOLS).map(({ address, token1, ...rest }) => ({
      pool: {
        chainId: CHAIN_A,
        address,
        token0: WETH,
        token1,
        token1ScaleMultiplier: 10n ** 12n,
        createdBlockNumber: 300,
        createdTimestamp: timeOf(300),
        ...rest,
      },
    })),
  );
  await seedLogs(listing, LOGS);
  await listing.pool.query("INSERT INTO operator.delisted_pool (chain_id, pool, reason) VALUES ($1, $2, 'test')", [
    CHAIN_A,
    POOLS.delisted.address,
  ]);
  await listing.pool.query(
    `INSERT INTO operator.index_audit (chain_id, address, factory, index_schema, tried_at, differs_since, differences, shown)
     VALUES ($1, $2, $3, $4, now(), now(), '{total0}', '{}')`,
    [CHAIN_A, POOLS.differing.address, FACTORY, 'onchain_before'],
  );
  // With the rights of the API alone.
  const login = actAs(loginUrl(listing.url, 'api'), 'ptd_api');
  const database = new pg.Pool({ connectionString: login, max: 4 });
  database.on('error', () => undefined);
  const metrics = new Registry();
  const appOf = (settings: Pick<(typeof CHAINS_FILE.chains)[number], 'adapters'>, registry: Registry) => {
    const served = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, { ...chain, ...settings }]));
    const made = new Hono();
    made.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
    mountHandlers(made, bindRoutes(adaptersResource, { chains: served, database, metrics: registry }));
    return made;
  };
  const app = appOf({}, metrics);
  /** Reads the chain as a site whose operator set `adapters.lagBlocks`. */
  const lagging = (lagBlocks: number) => {
    const behind = appOf({ adapters: { lagBlocks } }, new Registry());
    return (path: string) => behind.request(`/adapters/dexscreener/${CHAIN_A}/${path}`);
  };
  const index = async () => {
    const [final, head] = [FINAL, HEAD].map((number) => ({ chainId: CHAIN_A, number, timestamp: timeOf(number) }));
    if (final) await setIndexedBlock(listing.pool, { ...final, isFinal: true });
    if (head) await setIndexedBlock(listing.pool, head);
  };
  await index();
  const close = async () => {
    await database.end();
    await listing.close();
  };
  return { listing, app, lagging, metrics, index, close };
});

async function seedLogs({ db }: Awaited<ReturnType<typeof openListing>>, logs: readonly Logged[]): Promise<void> {
  const totals = new Map<string, Map<TotalName, bigint>>();
  for (const { pool, block, log, amounts, kind = 'swap', sentAt = log } of logs) {
    const [amount0Raw, amount1Raw] = amounts;
    const { address } = POOLS[pool];
    const place = { chainId: CHAIN_A, blockNumber: block, blockTimestamp: timeOf(block), logIndex: log };
    const row = { ...place, transactionHash: hashOf(block, sentAt), pool: address };
    const sent = { transactionIndex: sentAt, transactionFrom: makerOf(block, sentAt) };
    if (kind === 'swap')
      await db.insert(swap).values({
        ...swapRow({ ...row, zeroForOne: amount0Raw > 0n, amount0Raw, amount1Raw }),
        ...sent,
        ...(pool === 'packed' && { details: 1n, exactInput: null }),
      });
    const provider = { direction: amount0Raw < 0n ? 'removed' : 'added', provider: seedAddress(7), salt: 0n };
    const deltas = { delta0Scaled: 0n, delta1Scaled: 0n, amount0Raw, amount1Raw };
    if (kind === 'liquidity') await db.insert(liquidityChange).values({ ...row, ...sent, ...provider, ...deltas });
    const halves = { amount0ToProtocolRaw: -amount0Raw, amount1ToProtocolRaw: 0n };
    const rest = { amount0ToAdminRaw: 0n, amount1ToAdminRaw: -amount1Raw };
    if (kind === 'fees') await db.insert(feeCollection).values({ ...row, ...halves, ...rest });
    const sums = totals.get(pool) ?? new Map<TotalName, bigint>();
    totals.set(pool, sums);
    const add = (name: TotalName, amount: bigint) => sums.set(name, (sums.get(name) ?? 0n) + amount);
    for (const [token, amount] of amounts.entries()) {
      const into = kind === 'swap' ? `swapIn${token}Raw` : `liquidityIn${token}Raw`;
      const out =
        kind === 'fees'
          ? `feesCollected${token}Raw`
          : kind === 'swap'
            ? `swapOut${token}Raw`
            : `liquidityOut${token}Raw`;
      add((amount > 0n ? into : out) as TotalName, amount > 0n ? amount : -amount);
      // The protocol gets a hundredth of what plain swaps bring in.
      const isCharged = kind === 'swap' && pool === 'plain' && amount > 0n;
      if (isCharged) add(`protocolFee${token}Scaled` as TotalName, (amount * (token ? 10n ** 12n : 1n)) / 100n);
    }
    const none = (name: TotalName) =>
      pool === 'packed' && FLAT_FEE_TOTALS.some((flat) => flat === name) ? 'NULL' : 0n;
    const inOrder = TOTAL_NAMES.toSorted((a, b) => TOTAL[a] - TOTAL[b]);
    const list = arrayLiteral(inOrder.map((name) => sums.get(name) ?? none(name)));
    const { logIndex: _, ...second } = place;
    await db
      .insert(poolActivity)
      .values({ ...second, pool: address, totals: list })
      .onConflictDoUpdate({
        target: [poolActivity.chainId, poolActivity.pool, poolActivity.blockTimestamp],
        set: { blockNumber: block, totals: list },
      });
  }
}

const hashOf = (block: number, sentAt: number): Hex => `0x${String(block * 100 + sentAt).padStart(64, '0')}`;
const makerOf = (block: number, sentAt: number): Address => seedAddress(0xa000 + block * 10 + sentAt);

const get = (path: string) => opened.app.request(`/adapters/${path}`);

async function events(from: number, to: number, site = 'dexscreener'): Promise<readonly SiteEvent[]> {
  const response = await get(`${site}/${CHAIN_A}/events?fromBlock=${from}&toBlock=${to}`);
  expect(response.status).toBe(200);
  return EventsAnswer.parse(await response.json()).events;
}

const shown = (list: readonly SiteEvent[]) =>
  list.map(({ block, eventIndex, reserves }) => [block.blockNumber, eventIndex, reserves.asset0, reserves.asset1]);

describe('events', () => {
  test('a swap in the creation block has its transaction, its price, and what the pool held after it', async () => {
    const [join, sale, purchase] = await events(300, 300);
    expect(join).toEqual({
      block: { blockNumber: 300, blockTimestamp: timeOf(300) },
      eventType: 'join',
      txnId: hashOf(300, 0),
      txnIndex: 0,
      eventIndex: 1,
      maker: makerOf(300, 0),
      pairId: POOLS.plain.address,
      amount0: '100',
      amount1: '300000',
      reserves: { asset0: '100', asset1: '300000' },
    });
    expect(sale).toMatchObject({
      eventType: 'swap',
      txnIndex: 1,
      eventIndex: 4,
      maker: makerOf(300, 1),
      asset0In: '1',
      asset1Out: '2998.5',
      priceNative: '2998.5',
      reserves: { asset0: '101', asset1: '297001.5' },
    });
    // Of the same transaction.
    expect(purchase).toMatchObject({
      txnId: sale?.txnId,
      txnIndex: 1,
      eventIndex: 9,
      asset1In: '1000.000001',
      asset0Out: '0.333333333333333333',
      reserves: { asset0: '100.666666666666666667', asset1: '298001.500001' },
    });
    expect(purchase?.priceNative).toBe('3000.000003000000003');
  });

  test('amounts below a millionth have no exponent, and prices are not zero', async () => {
    const dust = (await events(301, 301))[0];
    expect(dust).toMatchObject({ asset0In: '0.000000000000000003', asset1Out: '0.000001' });
    expect(dust?.priceNative).toMatch(/^3{12}\.3{12}$/);
    const packed = (await events(311, 311))[0];
    expect(packed).toMatchObject({
      eventType: 'swap',
      pairId: POOLS.packed.address,
      asset0Out: '0.000000000000000001',
    });
  });

  test('balances follow from any first block, in the middle of a second and after collections of fees', async () => {
    const all = shown(await events(300, 1_299));
    expect(all.slice(3, 5)).toEqual([
      [301, 0, '100.66666666666666667', '298001.5'],
      [301, 2, '1', '2'],
    ]);
    // Not shown: a swap of nothing and a change of nothing. Balances count what is not shown.
    expect(all[5]).toEqual([310, 1, '46.66666666666666667', '298001.499993']);
    // A collection paid out what came without an event.
    expect(all.slice(6)).toEqual([
      [311, 0, '0.999999999999999999', '2.000001'],
      [311, 2, '0', '0'],
    ]);
    for (const from of [301, 302, 310, 311])
      expect(shown(await events(from, 1_299))).toEqual(all.filter(([block]) => Number(block) >= from));
  });

  test('what would stop the indexing of a site is left out and counted', async () => {
    opened.metrics.resetMetrics();
    expect(await events(302, 302)).toEqual([]);
    expect(await events(320, 320)).toEqual([]);
    const counted = await opened.metrics.getSingleMetric('adapter_left_out_events_total')?.get();
    expect(Object.fromEntries(counted?.values.map(({ labels, value }) => [labels.reason, value]) ?? [])).toEqual({
      amount: 1,
      symbol: 1,
      decimals: 1,
      token: 1,
      delisted: 1,
      differs: 1,
      deployment: 1,
    });
  });

  test('DEXTools gets the same', async () => {
    expect(await events(300, 1_299, 'dextools')).toEqual(await events(300, 1_299));
  });

  test.each([
    [400, `fromBlock=300&toBlock=1300`],
    [400, `fromBlock=301&toBlock=300`],
    [400, `fromBlock=-1&toBlock=300`],
    [400, `fromBlock=1`],
    // Above the newest block that is served: no empty list, which a site would keep.
    [404, `fromBlock=1400&toBlock=${FINAL + 1}`],
  ])('%i: %s', async (status, query) => {
    expect((await get(`dexscreener/${CHAIN_A}/events?${query}`)).status).toBe(status);
  });
});

describe('the newest block', () => {
  const latest = async () => (await get(`dexscreener/${CHAIN_A}/latest-block`)).json();

  test('is final, and its events can be read', async () => {
    await opened.index();
    const blockNumber = FINAL;
    // A second is three blocks: the index is not a minute ahead.
    expect(timeOf(HEAD) - timeOf(FINAL)).toBeLessThan(60);
    expect(await latest()).toEqual({ block: { blockNumber: 1_400, blockTimestamp: timeOf(1_400) } });
    const head = { chainId: CHAIN_A, number: HEAD + 180, timestamp: timeOf(HEAD + 180) };
    await setIndexedBlock(opened.listing.pool, head);
    expect(await latest()).toEqual({ block: { blockNumber, blockTimestamp: timeOf(FINAL) } });
    // Named once, a block is served although the index is not a minute ahead of the newest final one again.
    await opened.index();
    expect((await events(1_400, FINAL)).length).toBe(1);
    await setIndexedBlock(opened.listing.pool, head);
  });

  test('does not follow blocks that a reorganisation may replace', async () => {
    const before = await latest();
    const late: Logged = { pool: 'plain', block: FINAL + 5, log: 0, amounts: [ETHER, -DOLLAR] };
    await seedLogs(opened.listing, [late]);
    expect(await latest()).toEqual(before);
    const { number } = { number: FINAL + 5 };
    expect((await get(`dexscreener/${CHAIN_A}/events?fromBlock=${number}&toBlock=${number}`)).status).toBe(404);
    for (const table of ['swap', 'pool_activity'])
      await opened.listing.pool.query(`DELETE FROM ${ONCHAIN_SCHEMA}.${table} WHERE block_number = $1`, [number]);
    expect(await latest()).toEqual(before);
  });
});

describe('tokens, pools and blocks', () => {
  test('a token without a name has its symbol', async () => {
    expect(await (await get(`dexscreener/${CHAIN_A}/asset?id=${WETH.toUpperCase().replace('X', 'x')}`)).json()).toEqual(
      {
        asset: { id: WETH, name: 'Wrapped Ether', symbol: 'WETH' },
      },
    );
    expect(await (await get(`dextools/${CHAIN_A}/asset?id=${USDC}`)).json()).toEqual({
      asset: { id: USDC, name: 'USDC', symbol: 'USDC' },
    });
  });

  test('a pool has the order of its tokens, and for DEXTools its factory', async () => {
    const { address } = POOLS.plain;
    const { pair } = PairAnswer.parse(await (await get(`dexscreener/${CHAIN_A}/pair?id=${address}`)).json());
    expect(pair).toMatchObject({
      id: address,
      dexKey: FACTORY,
      asset0Id: WETH,
      asset1Id: USDC,
      createdAtBlockNumber: 300,
    });
    const other = FactoryPairAnswer.parse(await (await get(`dextools/${CHAIN_A}/pair?id=${address}`)).json());
    expect(other.pair).toEqual({ ...pair, factoryAddress: FACTORY });
    expect(await (await get(`dextools/${CHAIN_A}/exchange?id=${FACTORY}`)).json()).toEqual({
      exchange: { factoryAddress: FACTORY, name: 'devnet-a v1' },
    });
  });

  test('a block is found by its number where it has an event, and by a time', async () => {
    const block = async (query: string) => (await get(`dextools/${CHAIN_A}/block?${query}`)).json();
    const of = (number: number) => ({ block: { blockNumber: number, blockTimestamp: timeOf(number) } });
    expect(await block('number=311')).toEqual(of(311));
    expect(await block(`timestamp=${timeOf(311) + 1}`)).toEqual(of(311));
    expect(await block(`timestamp=${timeOf(HEAD)}`)).toEqual(of(FINAL));
    // A collection of fees is all that it has.
    expect(await block(`timestamp=${timeOf(315)}`)).toEqual(of(315));
    expect(await block('number=315')).toEqual(of(315));
  });

  test.each<[number, string]>([
    [404, `dexscreener/${CHAIN_A}/asset?id=${NAMELESS}`],
    [404, `dexscreener/${CHAIN_A}/asset?id=${ODD}`],
    [404, `dexscreener/${CHAIN_A}/asset?id=${UNKNOWN}`],
    ...Object.entries(POOLS)
      .filter(([name]) => name !== 'plain' && name !== 'packed')
      .map(([, { address }]): [number, string] => [404, `dexscreener/${CHAIN_A}/pair?id=${address}`]),
    [404, `dextools/${CHAIN_A}/exchange?id=${seedAddress(0xf0)}`],
    [404, `dextools/${CHAIN_A}/block?number=305`],
    [404, `dextools/${CHAIN_A}/block?timestamp=1`],
    [400, `dextools/${CHAIN_A}/block`],
    [400, `dexscreener/${CHAIN_A}/asset?id=0x12`],
    [400, `dexscreener/x/latest-block`],
    [404, `dexscreener/77/latest-block`],
  ])('%i: %s', async (status, path) => {
    expect((await get(path)).status).toBe(status);
  });
});

test.each([
  // The newest block below the head with an event, or the final one.
  [0, FINAL, HEAD],
  [HEAD - FINAL, FINAL, FINAL],
  [HEAD - FINAL + 1, 1_400, FINAL - 1],
  [HEAD - 1_400, 1_400, 1_400],
  [HEAD - 1_399, 320, 1_399],
  // Nothing has a time there: the final block.
  [HEAD - 299, FINAL, FINAL],
])('with a lag of %i blocks the latest is %i, and events are served to %i', async (lagBlocks, latest, last) => {
  await opened.index();
  const ask = opened.lagging(lagBlocks);
  expect(await (await ask('latest-block')).json()).toEqual({
    block: { blockNumber: latest, blockTimestamp: timeOf(latest) },
  });
  expect((await ask(`events?fromBlock=${last}&toBlock=${last}`)).status).toBe(200);
  expect((await ask(`events?fromBlock=${last + 1}&toBlock=${last + 1}`)).status).toBe(404);
});

describe('a day for DefiLlama', () => {
  const ask = (timestamp: number) => get(`defillama/${CHAIN_A}?timestamp=${timestamp}`);

  test('has the sums of pool_day once it is final', async () => {
    const { pool } = opened.listing;
    expect((await ask(DAY)).status).toBe(404);
    const after = { chainId: CHAIN_A, number: 900_000, timestamp: DAY + 90_000, isFinal: true };
    await setIndexedBlock(pool, after);
    await pool.query("SELECT history.keep_partitions('fiat_price_minute', $1::int8, 0)", [DAY]);
    await pool.query("SELECT history.keep_partitions('fiat_price_hour', $1::int8, 0)", [DAY]);
    await pool.query(
      `INSERT INTO history.fiat_price_hour SELECT $1, token, $2::int8 + hour * 3600, usd, 'static'
       FROM generate_series(0, 24) hour, (VALUES ($3, 3000), ($4, 1)) AS t (token, usd)`,
      [CHAIN_A, DAY, WETH, USDC],
    );
    await writeTradeMinutes(pool);
    const { rows } = await pool.query(
      `SELECT sum(volume_usd) AS volume, sum(lp_fee_usd) AS fees, sum(tvl_usd) AS tvl, count(*) FILTER (WHERE volume_usd IS NULL) AS unknown
       FROM read_model.pool_day WHERE chain_id = $1 AND day_ts = $2 AND pool <> ALL ($3)`,
      [CHAIN_A, DAY, [POOLS.delisted.address, POOLS.other.address]],
    );
    const day = (await (await ask(DAY + 50_000)).json()) as Record<string, number>;
    expect(day).toMatchObject({ timestamp: DAY, unknown: { dailyVolume: Number(rows[0].unknown) } });
    expect(day.dailyVolume).toBeCloseTo(Number(rows[0].volume), 6);
    expect(day.dailyVolume).toBeGreaterThan(3_000);
    // Two ether at 3,000 dollars and 4,001 dollars came in.
    expect(day.dailyRevenue).toBeCloseTo((2 * 3_000 + 1_000 + 3_001) / 100, 6);
    expect((day.dailyFees ?? 0) - (day.dailySupplySideRevenue ?? 0)).toBeCloseTo(day.dailyRevenue ?? 0, 6);
    expect(day.dailySupplySideRevenue).toBeCloseTo(Number(rows[0].fees), 6);
    expect(day.tvl).toBeGreaterThan(1_000);
    // The packed pool holds nothing: a collection paid out what came without an event.
    expect(day.tvl).toBeCloseTo(Number(rows[0].tvl), 6);
    await opened.index();
  });
});

test('a range reads its rows alone, along keys and indexes', async () => {
  const { pool } = opened.listing;
  const client = await pool.connect();
  for (const [table, block] of Object.entries({ swap: 301, liquidity_change: 310, fee_collection: 302 }))
    await client.query(`INSERT INTO ${ONCHAIN_SCHEMA}.${table}
      SELECT (jsonb_populate_record(t, jsonb_build_object('block_number', n, 'block_timestamp', ${DAY + 10_000} + n))).*
      FROM ${ONCHAIN_SCHEMA}.${table} t, generate_series(10001, 13000) n WHERE block_number = ${block}`);
  await client.query('ANALYZE');
  const { rows } =
    await client.query(`EXPLAIN SELECT 1 FROM read_model.swap WHERE chain_id = ${CHAIN_A} AND block_number BETWEEN 10300 AND 10399
    UNION ALL SELECT 1 FROM read_model.liquidity_change WHERE chain_id = ${CHAIN_A} AND block_number BETWEEN 10300 AND 10399
    UNION ALL SELECT 1 FROM read_model.fee_collection WHERE chain_id = ${CHAIN_A} AND block_number BETWEEN 10300 AND 10399`);
  client.release(true);
  const plan = JSON.stringify(rows);
  for (const table of ['swap', 'liquidity_change', 'fee_collection'])
    expect(plan).toMatch(new RegExp(`(using|on) ${table}_pkey`));
  expect(plan).not.toContain('Seq Scan');
});

// Last: it changes the tables.
test('an index of before release 0.3 says by name that it needs a backfill', async () => {
  const client = await opened.listing.pool.connect();
  await client.query(`DROP VIEW live.swap; DROP VIEW live.liquidity_change;
    ALTER TABLE ${ONCHAIN_SCHEMA}.swap DROP COLUMN transaction_index;
    ALTER TABLE ${ONCHAIN_SCHEMA}.liquidity_change DROP COLUMN transaction_index`);
  await publishLiveViews(client);
  client.release(true);
  for (const path of ['latest-block', 'events?fromBlock=300&toBlock=300']) {
    const response = await get(`dexscreener/${CHAIN_A}/${path}`);
    expect(response.status).toBe(503);
    expect(await response.text()).toMatch('needs a backfill');
  }
});

import { beforeAll, expect, test } from 'vitest';
import { selectPoolFacts } from '../../capture/listing/pool-facts.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { FACTORY, seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, NOW, openListing } from '../../test/metadata/listing-fixture.ts';
import type { CrossChainParams, ListingParams, Page } from '../../test/metadata/listing-reader.ts';
import { countStatement, findStatement, showStatement } from '../listing/listing-sql.ts';
import { toListingQuery } from '../listing/query.ts';
import { CROSS_CHAIN_SORTS, SORTS } from '../listing/query-string.ts';

const FUNDED = 50;
const UNFUNDED = 3;
const UNPRICED = 4;
const DELISTED = 2;
const UNPRICED_TOKEN = seedAddress(0x72);

const listing = startedWorld(openListing);

/** Pools with many equal keys, so that only a total order walks them without gaps. */
beforeAll(async () => {
  const { db, pool } = listing;
  for (const chainId of [CHAIN_A, CHAIN_B]) {
    await seedToken(db, { chainId, address: TOKEN0, symbol: 'WETH' });
    await seedToken(db, { chainId, address: TOKEN1, symbol: 'USDC', decimals: 6 });
    await seedToken(db, { chainId, address: UNPRICED_TOKEN, symbol: null, name: null, decimals: null });
    await pool.query(
      `INSERT INTO operator.fiat_price VALUES ($1, $2, 2000, 'static', now()), ($1, $3, 1, 'static', now())`,
      [chainId, TOKEN0, TOKEN1],
    );
  }
  const count = FUNDED + UNFUNDED + UNPRICED + DELISTED;
  const pools = [CHAIN_A, CHAIN_B].flatMap((chainId) => Array.from({ length: count }, (_, n) => seedOf(chainId, n)));
  await seedPools(db, pools);
  for (const chainId of [CHAIN_A, CHAIN_B]) await seedOperatorData(chainId, count);
  await listing.refresh();
});

function seedOf(chainId: number, n: number) {
  const funded = n < FUNDED || n >= FUNDED + UNFUNDED;
  const unpriced = n >= FUNDED + UNFUNDED && n < FUNDED + UNFUNDED + UNPRICED;
  return {
    pool: {
      chainId,
      address: seedAddress(0x1000 + n),
      createdBlockNumber: 100 + Math.floor(n / 4),
      token1ScaleMultiplier: 10n ** 12n,
      priceProviderTimelockSecs: n % 3 === 0 ? 2n ** 256n - 1n : 100n,
      ...(unpriced && { token1: UNPRICED_TOKEN }),
    },
    state: funded ? { total0Scaled: 10n ** 17n * BigInt(1 + (n % 5)), total1Scaled: 10n ** 18n } : {},
  };
}

async function seedOperatorData(chainId: number, count: number) {
  const tiers = ['green', 'yellow', 'red'] as const;
  for (let n = 0; n < FUNDED; n += 2) {
    const reasonCodes = n % 3 === 0 ? [] : (['curator_unverified'] as const);
    listing.tiers.set(seedAddress(0x1000 + n), { tier: tiers[n % 3] ?? 'red', reasonCodes });
  }
  for (let n = count - DELISTED; n < count; n += 1) {
    await listing.pool.query('INSERT INTO operator.delisted_pool VALUES ($1, $2)', [chainId, seedAddress(0x1000 + n)]);
  }
}

type Read = (range: { count: number; offset: number }) => Promise<Page>;
const ofChain =
  (chainId: number, query: ListingParams): Read =>
  (range) =>
    listing.page(chainId, { ...query, ...range });
const ofAllChains =
  (query: CrossChainParams): Read =>
  (range) =>
    listing.pageAcrossChains({ ...query, ...range });

async function walk(read: Read, count: number): Promise<Page['data']> {
  const rows: Page['data'] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const page: Page = await read({ count, offset });
    expect(page.data.length).toBeLessThanOrEqual(count);
    rows.push(...page.data);
    if (page.nextOffset === null) expect(rows.length).toBe(page.total);
    offset = page.nextOffset;
  }
  return rows;
}

const idOf = (row: Page['data'][number]) => `${row.chain}:${row.poolAddress}`;
const TIER_ORDER = ['green', 'yellow', 'red', 'unclassified', 'black'];

/** Sort keys as a client sees them, the first one first; null is unknown. */
const VISIBLE_KEYS: Record<string, (row: Page['data'][number]) => (number | null)[]> = {
  tiered: (row) => [-TIER_ORDER.indexOf(row.classificationSummary.tierQualification), row.tvlFiat ?? null],
  tvl: (row) => [row.tvlFiat ?? null],
  created: (row) => [row.createdBlockNumber],
  volume: (row) => [row.analytics24h?.volumeFiat ?? null, row.tvlFiat ?? null],
  apr: (row) => [Number(row.analytics24h?.aprBps ?? Number.NaN)].map((n) => (Number.isNaN(n) ? null : n)),
  apr7d: (row) => [row.aprBps7d === undefined ? null : Number(row.aprBps7d)],
};

function expectOrdered(rows: Page['data'], sort: string, order: string) {
  for (const [index, row] of rows.entries()) {
    const previous = rows[index - 1];
    if (previous)
      expect(comesBefore(VISIBLE_KEYS[sort]?.(previous) ?? [], VISIBLE_KEYS[sort]?.(row) ?? [], order)).toBe(true);
  }
}

function comesBefore(a: (number | null)[], b: (number | null)[], order: string): boolean {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null;
    if (left === right) continue;
    if (left === null || right === null) return right === null;
    return order === 'desc' ? left > right : left < right;
  }
  return true;
}

const FILTERS: readonly [query: CrossChainParams, matches: (n: number) => boolean][] = [
  [{ minTvlFiat: 0 }, (n) => n < FUNDED + UNFUNDED + UNPRICED],
  [{}, (n) => n < FUNDED],
  [{ minTvlFiat: 500 }, (n) => n < FUNDED && n % 5 >= 2],
  [{ tier: 'green,red' }, (n) => n < FUNDED && n % 2 === 0 && n % 3 !== 1],
  [{ lockedPricingOnly: true }, (n) => n < FUNDED && n % 3 === 0],
  [{ depositAllowlistEnabled: true }, () => false],
  [{ blacklistedOnly: true }, (n) => n >= FUNDED + UNFUNDED + UNPRICED],
  [{ contract_version: 'v1', minTvlFiat: 0 }, (n) => n < FUNDED + UNFUNDED + UNPRICED],
];

const expectedIds = (chains: readonly string[], matches: (n: number) => boolean) => {
  const numbers = Array.from({ length: FUNDED + UNFUNDED + UNPRICED + DELISTED }, (_, n) => n).filter(matches);
  return chains.flatMap((chain) => numbers.map((n) => `${chain}:${seedAddress(0x1000 + n)}`)).sort();
};

test.each(SORTS.flatMap((sort) => (['asc', 'desc'] as const).map((order) => [sort, order] as const)))(
  'every page under sortBy=%s %s gives each matching pool once, in order',
  async (sort, order) => {
    for (const [filter, matches] of FILTERS) {
      const query = { ...filter, sortBy: sort, sortOrder: order, include24h: true };
      const rows = await walk(ofChain(CHAIN_A, query), 7);
      expect(rows.map(idOf).sort()).toEqual(expectedIds(['devnet-a'], matches));
      expectOrdered(rows, sort, order);
    }
  },
);

test.each(CROSS_CHAIN_SORTS)('the same across chains under sortBy=%s', async (sort) => {
  for (const [filter, matches] of FILTERS) {
    const rows = await walk(ofAllChains({ ...filter, sortBy: sort, include24h: true }), 11);
    expect(rows.map(idOf).sort()).toEqual(expectedIds(['devnet-a', 'Devnet-B'], matches));
    expectOrdered(rows, sort, 'desc');
  }
});

test('chainIds limits the chains, and an unknown one yields nothing', async () => {
  const one = await walk(ofAllChains({ chainIds: `${CHAIN_B},999` }), 100);
  expect(one.map(idOf).sort()).toEqual(expectedIds(['Devnet-B'], (n) => n < FUNDED));
  expect(await listing.pageAcrossChains({ chainIds: '999' })).toEqual({ data: [], total: 0, nextOffset: null });
});

test('lookup by addresses ignores case, duplicates and the floor, and leaves out what is not listed', async () => {
  const unfunded = seedAddress(0x1000 + FUNDED);
  const delisted = seedAddress(0x1000 + FUNDED + UNFUNDED + UNPRICED);
  const known = seedAddress(0x1001);
  const named = [known.toUpperCase(), known, unfunded, delisted, seedAddress(0xdead)].join(',');
  const page = await listing.page(CHAIN_A, { addresses: named });
  expect(page.data.map((row) => row.poolAddress).sort()).toEqual([known, unfunded].sort());
  expect(page.total).toBe(2);
  const floored = await listing.page(CHAIN_A, { addresses: named, minTvlFiat: 1 });
  expect(floored.data.map((row) => row.poolAddress)).toEqual([known]);
});

test('a refresh moves the totals that were remembered', async () => {
  expect((await listing.page(CHAIN_B)).total).toBe(FUNDED);
  await listing.pool.query('INSERT INTO operator.delisted_pool VALUES ($1, $2)', [CHAIN_B, seedAddress(0x1000)]);
  await listing.refresh();
  expect((await listing.page(CHAIN_B)).total).toBe(FUNDED - 1);
  await listing.pool.query('DELETE FROM operator.delisted_pool WHERE chain_id = $1 AND pool = $2', [
    CHAIN_B,
    seedAddress(0x1000),
  ]);
  await listing.refresh();
  expect((await listing.page(CHAIN_B)).total).toBe(FUNDED);
});

test('caps and defaults of a page', async () => {
  const sizeOf = async (query: ListingParams) => (await listing.page(CHAIN_A, query)).data.length;
  expect(await sizeOf({ count: 0 })).toBe(1);
  expect(await sizeOf({ count: 501, minTvlFiat: 0 })).toBe(FUNDED + UNFUNDED + UNPRICED);
  expect(await sizeOf({ minTvlFiat: 0 })).toBe(50);
  const unusual = await listing.app.request(`/public/v1/evm/${CHAIN_A}/metadata?sortBy=TVL&unknown=1`);
  expect(await unusual.json()).toMatchObject({ data: { length: 50 } });
  const past = await listing.app.request(`/public/v1/evm/${CHAIN_A}/metadata?offset=99999999999999999999`);
  expect(await past.json()).toEqual({ data: [], total: FUNDED, nextOffset: null });
});

test('a price status counts for a minute, and only while the listing is refreshed', async () => {
  const address = seedAddress(0x1003);
  const statusNow = async () => (await listing.page(CHAIN_A, { addresses: address })).data[0]?.priceProviderStatus;
  expect(await statusNow()).toBe('unknown');
  const insert = `INSERT INTO operator.price_health VALUES ($1, $2, 'healthy', 1, 2, 10, 10, now() - make_interval(secs => $3))
    ON CONFLICT (chain_id, pool) DO UPDATE SET captured_at = excluded.captured_at`;
  await listing.pool.query(insert, [CHAIN_A, address, 30]);
  await listing.refresh();
  expect(await statusNow()).toBe('healthy');
  await listing.pool.query('UPDATE operator.listing_window SET generated_at_ts = generated_at_ts - 61');
  expect(await statusNow()).toBe('unknown');
  await listing.pool.query(insert, [CHAIN_A, address, 61]);
  await listing.refresh();
  expect(await statusNow()).toBe('unknown');
});

test('gas of swaps counts for a day', async () => {
  const address = seedAddress(0x1004);
  const gasNow = async () => (await listing.page(CHAIN_A, { addresses: address })).data[0]?.swapGas;
  expect(await gasNow()).toEqual({ token0In: null, token1In: null });
  const insert = `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at,
      gas_token0_in, gas_at) VALUES ($1, $2, 'healthy', 10, 10, now(), 208000, now() - $3::interval)
    ON CONFLICT (chain_id, pool) DO UPDATE SET gas_at = excluded.gas_at`;
  await listing.pool.query(insert, [CHAIN_A, address, '23 hours']);
  await listing.refresh();
  expect(await gasNow()).toEqual({ token0In: 208_000, token1In: null });
  await listing.pool.query(insert, [CHAIN_A, address, '25 hours']);
  await listing.refresh();
  expect(await gasNow()).toEqual({ token0In: null, token1In: null });
});

test('the window is one day, the same for every pool', async () => {
  const { data } = await listing.pageAcrossChains({ include24h: true, count: 500, minTvlFiat: 0 });
  for (const { analytics24h } of data) {
    expect(analytics24h).toMatchObject({
      fromTs: NOW - 86_400,
      toTs: NOW,
      fromBlock: 1000 - 86_400 + 1,
      toBlock: 1000,
    });
  }
});

test('the listing reads no table that grows with swaps', async () => {
  const chains = [{ chainId: CHAIN_A, factories: [FACTORY] }];
  const found = { version: '', chainIds: [String(CHAIN_A)], pools: [seedAddress(0x1000)] };
  const statements = [
    findStatement(toListingQuery({}, SORTS), chains, 60),
    countStatement(toListingQuery({}, SORTS), chains),
    showStatement(found, true, 60),
  ];
  const client = await listing.pool.connect();
  try {
    await client.query('BEGIN');
    for (const { text, values } of statements) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect([...plan.matchAll(/ on (\w+)/g)].map((match) => match[1])).toContain('pool_listing');
      expect(plan).not.toMatch(/ on (swap|bin_swap|pool_activity|liquidity_change)/);
    }
    await client.query('SET LOCAL enable_seqscan = off');
    const { sql, params } = selectPoolFacts(client, [{ chainId: CHAIN_A, pool: seedAddress(0x1000) }], NOW).toSQL();
    const facts = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, params);
    const refreshPlan = facts.rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(refreshPlan).toMatch(/Index Scan Backward using pool_activity_pkey/);
    expect(refreshPlan).not.toMatch(/ on (swap|bin_swap)|Seq Scan on pool_activity/);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});

test.each(['asc', 'desc'] as const)(
  'while pools are created, a walk in %s order of creation misses none that were there',
  async (order) => {
    const before = (await walk(ofChain(CHAIN_B, { minTvlFiat: 0, sortBy: 'created' }), 500)).map(idOf);
    const seen = new Set<string>();
    let created = order === 'asc' ? 0x2000 : 0x3000;
    for (let offset: number | null = 0; offset !== null; ) {
      const query = { minTvlFiat: 0, sortBy: 'created' as const, sortOrder: order, count: 9, offset };
      const page: Page = await listing.page(CHAIN_B, query);
      for (const row of page.data) seen.add(idOf(row));
      offset = page.nextOffset;
      if (created % 0x1000 < 8) {
        const pool = { chainId: CHAIN_B, address: seedAddress(created), createdBlockNumber: 5_000 + created };
        await seedPools(listing.db, [{ pool }]);
        await listing.refresh();
        created += 1;
      }
    }
    expect(before.filter((id) => !seen.has(id))).toEqual([]);
  },
);

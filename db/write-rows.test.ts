import { sql } from 'drizzle-orm';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMigratedDatabase } from '../test/harness/database.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { seedAddress } from '../test/harness/seed-pools.ts';
import { queriesOn } from './query-builder.ts';
import { poolClassifications, priceHealth } from './schema/operator.ts';
import { deletePools, insertRows, upsertRows } from './write-rows.ts';

const KEY = { key: ['chainId', 'pool'] } as const;
const [POOL, OTHER] = [seedAddress(1), seedAddress(2)];

const database = startedWorld(createMigratedDatabase);
let client: pg.Pool;
beforeAll(async () => {
  client = new pg.Pool({ connectionString: database.url, max: 1 });
});
beforeEach(() => client.query('TRUNCATE operator.pool_classification, operator.price_health'));
afterAll(() => client.end());

const classified = (tier: 'green' | 'red', reasonCodes: string[] = []) => ({
  chainId: 1,
  pool: POOL,
  tier,
  reasonCodes,
});
const stored = () => queriesOn(client).select().from(poolClassifications).orderBy(poolClassifications.pool);

test('values of every type arrive whole', async () => {
  const row = {
    chainId: 2 ** 53 - 1,
    pool: POOL,
    status: 'healthy' as const,
    sellPriceX64: 2n ** 128n - 1n,
    buyPriceX64: null,
    blockNumber: 0,
    blockTimestamp: 1_790_000_000,
    capturedAt: new Date(1_790_000_000_123),
    balance0Raw: 2n ** 256n - 1n,
    balance1Raw: 0n,
    isFunded: true,
    basis: 'live' as const,
    tradesLive: null,
    gasToken0In: 2 ** 31 - 1,
    gasToken1In: null,
    gasAt: new Date(1_790_000_000_456),
  };
  await insertRows(client, priceHealth, [row]);
  expect(await queriesOn(client).select().from(priceHealth)).toEqual([row]);
  const codes = ['a,b', 'quote " and \\ backslash', '', '{}'];
  await upsertRows(client, poolClassifications, [classified('red', codes)], KEY);
  expect((await stored()).map(({ reasonCodes }) => reasonCodes)).toEqual([codes]);
});

test('an insert leaves rows whose key is taken, an upsert updates them', async () => {
  await insertRows(client, poolClassifications, [classified('green')]);
  await insertRows(client, poolClassifications, [classified('red')]);
  expect((await stored()).map(({ tier }) => tier)).toEqual(['green']);
  await upsertRows(client, poolClassifications, [classified('red'), { ...classified('green'), pool: OTHER }], KEY);
  expect((await stored()).map(({ tier }) => tier)).toEqual(['red', 'green']);
});

test('a row with the same values is written again only when asked for', async () => {
  const writtenAt = async () => (await client.query('SELECT xmin FROM operator.pool_classification')).rows;
  const write = (evenIfSame: boolean, time: string) =>
    upsertRows(client, poolClassifications, [classified('green', ['app_missing'])], {
      ...KEY,
      evenIfSame,
      computed: { classifiedAt: sql`${time}::timestamptz` },
    });
  await write(false, '2026-01-01T00:00:00.000Z');
  const before = await writtenAt();
  await write(false, '2026-01-02T00:00:00.000Z');
  expect(await writtenAt()).toEqual(before);
  await write(true, '2026-01-02T00:00:00.000Z');
  expect((await stored())[0]?.classifiedAt.toISOString()).toBe('2026-01-02T00:00:00.000Z');
  expect(await writtenAt()).not.toEqual(before);
});

test('no rows write and delete nothing, and rows of named pools are deleted', async () => {
  await insertRows(client, poolClassifications, []);
  await upsertRows(client, poolClassifications, [], KEY);
  await upsertRows(client, poolClassifications, [classified('green'), { ...classified('red'), pool: OTHER }], KEY);
  await deletePools(client, poolClassifications, [{ chainId: 1, pool: POOL }]);
  await deletePools(client, poolClassifications, []);
  expect((await stored()).map(({ pool }) => pool)).toEqual([OTHER]);
});

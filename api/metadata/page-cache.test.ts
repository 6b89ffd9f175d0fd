import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, openListing } from '../../test/metadata/listing-fixture.ts';
import { ReadyBody } from '../http/ready-body.ts';
import { createPageCache } from './versioned-pages.ts';

const POOLS = 20;
const PATH = `/public/v1/evm/${CHAIN_A}/metadata?minTvlFiat=0`;

const listing = startedWorld(openListing);

beforeAll(async () => {
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address });
  const addresses = Array.from({ length: POOLS }, (_, n) => seedAddress(0x1000 + n));
  await seedPools(
    listing.db,
    addresses.map((address) => ({ pool: { chainId: CHAIN_A, address } })),
  );
  await listing.refresh();
});

const pairs = async () => (await listing.page(CHAIN_A, { minTvlFiat: 0 })).data.map(({ pair }) => pair);

test('a page is built once per refresh', async () => {
  const before = await pairs();
  expect(before.length).toBe(POOLS);
  // What no refresh published is not looked for.
  await listing.pool.query(`UPDATE operator.listed_pool SET record = replace(record, '"TKN/TKN"', '"NEW/NEW"')`);
  expect(await pairs()).toEqual(before);
  expect((await listing.page(CHAIN_A, { minTvlFiat: 0, count: POOLS + 1 })).data[0]?.pair).toBe('NEW/NEW');
  await listing.pool.query('UPDATE operator.listing_window SET generation = generation + 1');
  expect(await pairs()).toEqual(Array(POOLS).fill('NEW/NEW'));
});

/** How often records were read from the database while the work was done. */
async function countReads(work: () => Promise<unknown>): Promise<number> {
  const queries = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    return queries.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('listed_pool')).length;
  } finally {
    queries.mockRestore();
  }
}

test('a page that many ask for at once after a refresh is read once', async () => {
  const before = await pairs();
  await listing.pool.query('UPDATE operator.listing_window SET generation = generation + 1');
  const reads = await countReads(async () => {
    expect(await Promise.all(Array.from({ length: 20 }, pairs))).toEqual(Array(20).fill(before));
    expect(await pairs()).toEqual(before);
  });
  expect(reads).toBe(1);
});

test('the first page of a filter that many ask for at once is read once', async () => {
  const ask = () => listing.page(CHAIN_A, { addresses: seedAddress(0x1001) });
  expect(await countReads(() => Promise.all(Array.from({ length: 20 }, ask)))).toBe(1);
});

test('an uncommon page is kept from its second request', async () => {
  const uncommon = () => listing.page(CHAIN_A, { minTvlFiat: 0, count: 7, offset: 3 });
  expect([await countReads(uncommon), await countReads(uncommon), await countReads(uncommon)]).toEqual([1, 1, 0]);
});

test('a page is compressed for who takes it so; its tag spares sending it again', async () => {
  const ask = async (headers: Record<string, string>) => listing.app.request(PATH, { headers });
  const plain = await ask({});
  const zipped = await ask({ 'Accept-Encoding': 'gzip' });
  expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
  const bytes = await zipped.arrayBuffer();
  expect(Number(zipped.headers.get('Content-Length'))).toBe(bytes.byteLength);
  const text = await plain.text();
  expect(gunzipSync(bytes).toString()).toBe(text);
  expect(Number(plain.headers.get('Content-Length'))).toBe(Buffer.byteLength(text));
  expect(zipped.headers.get('ETag')).toBe(plain.headers.get('ETag'));
  expect([plain, zipped].map(({ headers }) => headers.get('Vary'))).toEqual(['Accept-Encoding', 'Accept-Encoding']);
  const tag = plain.headers.get('ETag') ?? '';
  expect(tag).toMatch(/^W\/"[\w-]{27}"$/);
  for (const known of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
    const again = await ask({ 'If-None-Match': known });
    expect([again.status, await again.text(), again.headers.get('ETag')]).toEqual([304, '', tag]);
  }
  expect((await ask({ 'If-None-Match': '"other"' })).status).toBe(200);
});

test('memory is bounded: pages that were not requested recently are evicted first', async () => {
  const cache = createPageCache(100_000);
  const made: string[] = [];
  const request = (key: string, length = 10_000) =>
    cache.get(key, async () => {
      made.push(key);
      return new ReadyBody('x'.repeat(length));
    });
  for (const key of ['a', 'b', 'c', 'd', 'a', 'e', 'a', 'c', 'd', 'e', 'b']) await request(key);
  expect(made.join('')).toBe('abcdeb');
  for (const _ of [1, 2]) await request('whole', 100_000);
  expect(made.slice(6)).toEqual(['whole', 'whole']);
});

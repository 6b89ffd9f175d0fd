import { beforeAll, beforeEach, expect, test } from 'vitest';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, openListing } from '../../test/metadata/listing-fixture.ts';
import { refreshListing } from './refresh-listing.ts';

/** More than a refresh computes again at other prices. */
const DUST = 501;
const POOLS = DUST + 2;
const [FUNDED, EMPTY] = [seedAddress(1), seedAddress(POOLS)];

const listing = startedWorld(openListing);

beforeAll(async () => {
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address, decimals: 2 });
  await seedPools(
    listing.db,
    Array.from({ length: POOLS }, (_, n) => ({
      pool: { chainId: CHAIN_A, address: seedAddress(n + 1) },
      state: { total0Scaled: n === 0 ? 100n : n <= DUST ? 1n : 0n },
    })),
  );
});

beforeEach(async () => {
  await listing.pool.query('TRUNCATE operator.price_health');
  await fund([FUNDED]);
  await priceAt(2);
  await listing.refresh();
  await listing.refresh();
});

const priceAt = (usd: number) =>
  listing.pool.query(
    `INSERT INTO operator.fiat_price VALUES ($1, $2, $3, 'static', now())
     ON CONFLICT (chain_id, token) DO UPDATE SET usd = excluded.usd`,
    [CHAIN_A, TOKEN0, usd],
  );

/** Has pools counted as funded, as capture does when it reads them. */
const fund = (pools: readonly string[]) =>
  listing.pool.query(
    `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at, is_funded)
     SELECT $1, pool, 'healthy', 1, 1, now(), true FROM unnest($2::text[]) pool ON CONFLICT DO NOTHING`,
    [CHAIN_A, pools],
  );

const touch = (pool: string, bin: number) =>
  listing.pool.query(`UPDATE ${ONCHAIN_SCHEMA}.pool_state SET cur_bin_idx = $2 WHERE pool = $1`, [pool, bin]);

/** Price and TVL of the funded pool, and how many pools have the TVL of dust. */
async function shown(dustUsd: number) {
  const { data } = await listing.page(CHAIN_A, { minTvlFiat: 0, include24h: true, sortBy: 'tvl', addresses: FUNDED });
  const { rows } = await listing.pool.query(
    'SELECT count(*)::int AS n FROM operator.pool_listing WHERE tvl_fiat = $1',
    [dustUsd],
  );
  return [data[0]?.token0FiatPrice, data[0]?.tvlFiat, rows[0].n];
}

test('a pool that the index changed is computed once, whichever process refreshes', async () => {
  expect(await listing.refresh()).toBe(0);
  await touch(EMPTY, 1);
  expect([await listing.refresh(), await listing.refresh()]).toEqual([1, 0]);
});

test('a transaction that stays open has nothing else computed', async () => {
  const client = await listing.pool.connect();
  await client.query('BEGIN; SELECT pg_current_xact_id()');
  await touch(FUNDED, 2);
  expect([await listing.refresh(), await listing.refresh()]).toEqual([1, 0]);
  await client.query('ROLLBACK');
  client.release();
});

test('a price is shown at once and moves the funded pool at once, dust in turn and empty pools never', async () => {
  expect(await shown(0.02)).toEqual([2, 2, DUST]);
  await priceAt(4);
  expect(await listing.refresh()).toBe(1 + 500);
  expect(await shown(0.04)).toEqual([4, 4, 500]);
  expect([await listing.refresh(), await listing.refresh()]).toEqual([1, 0]);
  await fund(Array.from({ length: DUST }, (_, n) => seedAddress(n + 2)));
  await priceAt(100);
  expect(await listing.refresh()).toBe(1 + DUST);
  expect(await shown(1)).toEqual([100, 100, DUST]);
  expect(await listing.refresh()).toBe(0);
});

test('dust that waits is not overtaken by dust that was computed', async () => {
  await priceAt(3);
  await listing.refresh();
  await priceAt(4);
  await listing.refresh();
  expect((await shown(0.02))[2]).toBe(0);
});

test('every pool is computed by code or settings of another version, and when the window goes back', async () => {
  expect(await refreshListing({ ...listing.refreshDeps, version: 'other' })).toBe(POOLS);
  expect(await listing.refresh()).toBe(POOLS);
  await listing.pool.query('UPDATE operator.listing_window SET to_ts = to_ts + 61');
  expect(await listing.refresh()).toBe(POOLS);
  expect(await listing.refresh()).toBe(0);
});

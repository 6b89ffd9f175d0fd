import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, type Listing, openListing } from '../../test/metadata/listing-fixture.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import { createListingRefresh } from './refresh-listing.ts';

/** Funded, dust, dust, empty. */
const POOLS = 4;
const EMPTY = seedAddress(POOLS);

let listing: Listing;

beforeAll(async () => {
  listing = await openListing();
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address, decimals: 2 });
  const amounts = [100n, 1n, 1n, 0n];
  await seedPools(
    listing.db,
    amounts.map((total0Scaled, n) => ({
      pool: { chainId: CHAIN_A, address: seedAddress(n + 1) },
      state: { total0Scaled },
    })),
  );
  await priceAt(2);
});

afterAll(() => listing.close());

vi.setConfig({ testTimeout: 150_000 });

/**
 * Waits until all transactions of this server that began before now have ended, of whatever database: what was written
 * meanwhile counts as changed once more.
 */
async function awaitOlderTransactions(): Promise<void> {
  const { rows } = await listing.pool.query('SELECT pg_current_xact_id()::text AS now');
  const sql = 'SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 AS passed';
  await vi.waitFor(async () => expect((await listing.pool.query(sql, [rows[0].now])).rows[0].passed).toBe(true), {
    timeout: 60_000,
    interval: 50,
  });
}

/** A process that has refreshed once: gives the number of pools that each further refresh computes. */
async function startRefreshing(): Promise<() => Promise<number | null>> {
  await awaitOlderTransactions();
  const refresh = createListingRefresh({
    database: listing.pool,
    registry: createRegistry(CHAINS_FILE),
    findBlockAt: async (_, indexed) => indexed.number,
    fiatMaxAgeSecs: 600,
    repricedPools: 1,
  });
  expect(await refresh()).toBe(POOLS);
  return refresh;
}

const priceAt = (usd: number) =>
  listing.pool.query(
    `INSERT INTO operator.fiat_price VALUES ($1, $2, $3, 'static', now())
     ON CONFLICT (chain_id, token) DO UPDATE SET usd = excluded.usd`,
    [CHAIN_A, TOKEN0, usd],
  );

const shown = async () => {
  const { data } = await listing.page(CHAIN_A, { minTvlFiat: 0, include24h: true, sortBy: 'tvl' });
  return data.map(({ token0FiatPrice, tvlFiat }) => [token0FiatPrice, tvlFiat]);
};

test('only a pool that the index changed is computed, and again while a reorganisation may undo it', async () => {
  const refresh = await startRefreshing();
  expect(await refresh()).toBe(0);
  await listing.pool.query(`UPDATE ${ONCHAIN_SCHEMA}.pool_state SET cur_bin_idx = 1 WHERE pool = $1`, [EMPTY]);
  expect([await refresh(), await refresh()]).toEqual([1, 1]);
});

test('a price is shown at once and moves the funded pool at once, dust in turn and empty pools never', async () => {
  const refresh = await startRefreshing();
  expect(await shown()).toEqual([
    [2, 2],
    [2, 0.02],
    [2, 0.02],
    [2, 0],
  ]);
  await priceAt(4);
  expect(await refresh()).toBe(2);
  expect(await shown()).toEqual([
    [4, 4],
    [4, 0.04],
    [4, 0.02],
    [4, 0],
  ]);
  expect([await refresh(), await refresh()]).toEqual([1, 0]);
  // Now each of them is worth a dollar.
  await priceAt(100);
  expect(await refresh()).toBe(3);
  expect(await shown()).toEqual([
    [100, 100],
    [100, 1],
    [100, 1],
    [100, 0],
  ]);
});

test('what another process published at prices that are gone again is computed anew', async () => {
  const [one, other] = [await startRefreshing(), await startRefreshing()];
  const before = await shown();
  await priceAt(3);
  await other();
  expect(await shown()).not.toEqual(before);
  await priceAt(100);
  await one();
  expect(await shown()).toEqual(before);
});

import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, type Listing, openListing } from '../../test/metadata/listing-fixture.ts';
import { isSuccessor } from '../changes/changed-pools.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import { createListingRefresh } from './refresh-listing.ts';

/** Funded, dust, dust, empty. */
const AMOUNTS = [100n, 1n, 1n, 0n];
const ALL = AMOUNTS.length;
const EMPTY = seedAddress(ALL);

let listing: Listing;

beforeAll(async () => {
  listing = await openListing();
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address, decimals: 2 });
  const pools = AMOUNTS.map((total0Scaled, n) => ({
    pool: { chainId: CHAIN_A, address: seedAddress(n + 1) },
    state: { total0Scaled },
  }));
  await seedPools(listing.db, pools);
  await listing.pool.query("INSERT INTO operator.fiat_price VALUES ($1, $2, 2, 'static', now())", [CHAIN_A, TOKEN0]);
});

afterAll(() => listing.close());

vi.setConfig({ testTimeout: 150_000 });

/** A process: each refresh gives the number of pools that it computes. */
const startProcess = (version?: string) =>
  createListingRefresh({
    database: listing.pool,
    registry: createRegistry(CHAINS_FILE),
    findBlockAt: async (_, indexed) => indexed.number,
    fiatMaxAgeSecs: 600,
    repricedPools: 1,
    version,
  });

/** Waits until no transaction of this server, of whatever database, is older than what was written before now. */
async function settle(): Promise<void> {
  const { rows } = await listing.pool.query('SELECT pg_current_xact_id()::text AS now');
  const sql = 'SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 AS passed';
  await vi.waitFor(async () => expect((await listing.pool.query(sql, [rows[0].now])).rows[0].passed).toBe(true), {
    timeout: 60_000,
    interval: 50,
  });
}

const touch = (pool: string, bin: number) =>
  listing.pool.query(`UPDATE ${ONCHAIN_SCHEMA}.pool_state SET cur_bin_idx = $2 WHERE pool = $1`, [pool, bin]);
const shown = async () => {
  const { data } = await listing.page(CHAIN_A, { minTvlFiat: 0 });
  return data.map(({ poolAddress }) => poolAddress).sort();
};

beforeEach(async () => {
  await settle();
  await listing.pool.query('DELETE FROM operator.listing_state');
  expect(await startProcess('a')()).toBe(ALL);
  await settle();
});

test('a process goes on where the one before stopped: it computes what changed since, and dust in turn', async () => {
  const first = startProcess('a');
  expect([await first(), await first(), await first()]).toEqual([1, 1, 0]);
  await touch(EMPTY, 1);
  const second = startProcess('a');
  expect([await second(), await second(), await second()]).toEqual([2, 2, 1]);
});

test('what a reorganisation takes back while no process runs is noticed', async () => {
  const added = seedAddress(ALL + 1);
  await seedPools(listing.db, [{ pool: { chainId: CHAIN_A, address: added }, state: {} }]);
  await startProcess('a')();
  expect(await shown()).toContain(added);
  for (const [table, column] of Object.entries({ pool: 'address', pool_state: 'pool' })) {
    await listing.pool.query(`DELETE FROM ${ONCHAIN_SCHEMA}.${table} WHERE ${column} = $1`, [added]);
  }
  await settle();
  expect(await startProcess('a')()).toBeLessThan(ALL);
  expect(await shown()).not.toContain(added);
});

test('a curator and a delisting that changed while no process ran are noticed', async () => {
  const { rows } = await listing.pool.query('SELECT admin FROM live.pool WHERE address = $1', [EMPTY]);
  const record = async () => {
    await settle();
    await startProcess('a')();
    const { rows } = await listing.pool.query('SELECT record FROM operator.listed_pool WHERE pool = $1', [EMPTY]);
    const { verifiedAdmin, classificationSummary } = JSON.parse(rows[0].record);
    return [verifiedAdmin, classificationSummary.tierQualification];
  };
  await listing.pool.query(`INSERT INTO operator.curator VALUES ($1, $2, 'Alice', true)`, [CHAIN_A, rows[0].admin]);
  await listing.pool.query('INSERT INTO operator.delisted_pool (chain_id, pool) VALUES ($1, $2)', [CHAIN_A, EMPTY]);
  expect(await record()).toEqual([true, 'black']);
  await listing.pool.query('DELETE FROM operator.curator');
  expect(await record()).toEqual([false, 'black']);
  await listing.pool.query('DELETE FROM operator.delisted_pool');
  expect(await record()).toEqual([false, 'unclassified']);
});

test.each<[string, () => Promise<unknown>]>([
  ['of other code or settings', async () => startProcess('b')()],
  ['of an unknown version', async () => startProcess()()],
  [
    'of several versions',
    async () => {
      const [one, other] = [startProcess('a'), startProcess('b')];
      await one();
      await other();
      await one();
    },
  ],
  [
    'of a release that does not know what the listing stands for',
    () => listing.pool.query('UPDATE operator.listing_window SET generation = generation + 1'),
  ],
  ['from another server', () => listing.pool.query("UPDATE operator.listing_state SET written_by = '3'")],
  ['of a time before a migration', () => listing.pool.query("INSERT INTO operator.migration (name) VALUES ('9999_x')")],
])('every pool is computed when the listing is %s', async (_name, happen) => {
  await happen();
  await settle();
  expect(await startProcess('a')()).toBe(ALL);
  await listing.pool.query("DELETE FROM operator.migration WHERE name = '9999_x'");
});

test('a mark tells what changed for a billion transactions, on the index that it is of', () => {
  const before = { schema: 's', index: 's:1', xmin: '5000000000' };
  const after = (transactions: bigint, index = 's:1') =>
    isSuccessor({ schema: 's', index, xmin: String(5_000_000_000n + transactions) }, before);
  expect([after(0n), after(1_000_000_000n)]).toEqual([true, true]);
  expect([after(-1n), after(2n ** 30n), after(0n, 's:2')]).toEqual([false, false, false]);
});

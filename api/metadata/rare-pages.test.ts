import { Hono } from 'hono';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDatabase, SHORT_STATEMENTS } from '../../db/connection.ts';
import { createLogger } from '../../runtime/logger.ts';
import { FACTORY, seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, type Listing, openListing } from '../../test/metadata/listing-fixture.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { mountHandlers } from '../declaration/mount-routes.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { findStatement } from './listing-sql.ts';
import { metadataResource } from './metadata.ts';
import { toListingQuery } from './query.ts';
import { SORTS } from './query-string.ts';

const MAX_TOTALS = 3;
const POOLS = 20;

let listing: Listing;
let rarePages: pg.Pool;
let app: Hono;

/** An API process's listing, with two connections and 100 ms for pages that are not among the usual ones. */
beforeAll(async () => {
  listing = await openListing();
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address });
  const addresses = Array.from({ length: POOLS }, (_, n) => seedAddress(0x1000 + n));
  await seedPools(
    listing.db,
    addresses.map((address) => ({ pool: { chainId: CHAIN_A, address } })),
  );
  await listing.refresh();
  rarePages = openDatabase(listing.url, createLogger('test', 'silent'), 2, 100, SHORT_STATEMENTS).$client;
  app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  const deps = { chains, database: listing.pool, rarePages, maxTotals: MAX_TOTALS, statusMaxAgeSecs: 60 };
  mountHandlers(app, bindRoutes(metadataResource, deps));
});

afterAll(async () => {
  await rarePages.end();
  await listing.close();
});

const ask = async (query: string) => {
  const response = await app.request(`/public/v1/evm/${CHAIN_A}/metadata?${query}`);
  return { status: response.status, body: (await response.json()) as { total?: number } };
};

const USUAL = 'minTvlFiat=0';
const UNAVAILABLE = { status: 503, body: { error: 'Service temporarily unavailable' } };

test('pages that take too long are 503, and remembered ones are sent all the while', async () => {
  expect((await ask(USUAL)).body.total).toBe(POOLS);
  const holder = new pg.Client({ connectionString: listing.url });
  await holder.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE operator.pool_listing, operator.listed_pool');
    const strange = Array.from(
      { length: 20 },
      (_, n) => [`minTvlFiat=0&offset=${n + 1}`, `minTvlFiat=0.${n + 1}`, `addresses=${seedAddress(n)}`][n % 3],
    );
    const answers = Promise.all(strange.map((query) => ask(String(query))));
    expect((await ask(USUAL)).status).toBe(200);
    expect(await answers).toEqual(strange.map(() => UNAVAILABLE));
    expect((await ask(USUAL)).status).toBe(200);
  } finally {
    await holder.end();
  }
  expect((await ask('minTvlFiat=0&offset=1')).body.total).toBe(POOLS);
});

test('a total is counted once per filter, and the last few are remembered', async () => {
  const queries = vi.spyOn(rarePages, 'query');
  const counts = () => {
    const counted = queries.mock.calls.filter(([statement]) => JSON.stringify(statement).includes('SELECT count(*)'));
    queries.mockClear();
    return counted.length;
  };
  try {
    await Promise.all(Array.from({ length: 10 }, (_, n) => ask(`minTvlFiat=0&tier=red&offset=${n}`)));
    expect(counts()).toBe(1);
    for (let n = 0; n < MAX_TOTALS; n += 1) await ask(`minTvlFiat=${n + 1}`);
    expect(counts()).toBe(MAX_TOTALS);
    await ask(`minTvlFiat=${MAX_TOTALS}&count=7`);
    expect(counts()).toBe(0);
    await ask('minTvlFiat=0&tier=red&count=7');
    expect(counts()).toBe(1);
  } finally {
    queries.mockRestore();
  }
});

test('a page that a refresh comes between is read again: all of it is of one refresh', async () => {
  const first = seedAddress(0x1000);
  const query = rarePages.query.bind(rarePages);
  let statements = 0;
  const queries = vi.spyOn(rarePages, 'query').mockImplementation(async (statement: unknown) => {
    const result = await query(statement as pg.QueryConfig);
    statements += 1;
    if (statements === 1) {
      await listing.pool.query('DELETE FROM operator.listed_pool WHERE pool = $1', [first]);
      await listing.pool.query('DELETE FROM operator.pool_listing WHERE pool = $1', [first]);
      await listing.pool.query('UPDATE operator.listing_window SET generation = generation + 1');
    }
    return result;
  });
  try {
    const { body } = await ask('minTvlFiat=0&count=3&sortBy=tvl');
    expect(body).toMatchObject({ data: [1, 2, 3].map((n) => ({ poolAddress: seedAddress(0x1000 + n) })) });
    expect([body.total, statements]).toEqual([POOLS - 1, 4]);
  } finally {
    queries.mockRestore();
  }
});

test.each(['search=us', `addresses=${seedAddress(1)}`])(
  'pools that match %s are found before they are sorted',
  async (filter) => {
    const raw = Object.fromEntries(new URLSearchParams(`minTvlFiat=0&${filter}`));
    const query = toListingQuery({ ...raw, minTvlFiat: 0 }, SORTS);
    const { text, values } = findStatement(
      query,
      { single: true, chains: [{ chainId: CHAIN_A, factories: [FACTORY] }] },
      60,
      false,
    );
    const { rows } = await rarePages.query(`EXPLAIN ${text}`, values);
    expect(JSON.stringify(rows)).toContain('CTE Scan on matching');
  },
);

test('one page takes one core', async () => {
  const { rows } = await rarePages.query("SELECT current_setting('max_parallel_workers_per_gather') AS workers");
  expect(rows).toEqual([{ workers: '0' }]);
});

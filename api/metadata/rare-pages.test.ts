import { Hono } from 'hono';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDatabase, SHORT_STATEMENTS } from '../../db/connection.ts';
import { createLogger } from '../../runtime/logger.ts';
import { FACTORY, seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, CHAINS_FILE, type Listing, openListing } from '../../test/metadata/listing-fixture.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { mountHandlers } from '../declaration/mount-routes.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { bookmarksStatement, findStatement } from './listing-sql.ts';
import { metadataResource } from './metadata.ts';
import { toListingQuery } from './query.ts';
import { CROSS_CHAIN_SORTS, SORTS } from './query-string.ts';

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

type Body = { readonly total?: number; readonly data?: readonly { readonly poolAddress: string }[] };

const ask = async (query: string) => {
  const response = await app.request(`/public/v1/evm/${CHAIN_A}/metadata?${query}`);
  return { status: response.status, body: (await response.json()) as Body };
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

type Found = { readonly rows: readonly { readonly total: string | null }[] };
type Hooks = { readonly before?: () => Promise<unknown>; readonly after?: () => Promise<unknown> };

/** Statements that looked for pools while the work was done, and how many counted them. */
async function watchStatements(work: () => Promise<unknown>, { before, after }: Hooks = {}) {
  const query: (...args: unknown[]) => unknown = pg.Client.prototype.query;
  let [statements, counts] = [0, 0];
  const watch = async (ask: () => unknown) => {
    statements += 1;
    await before?.();
    const found = (await ask()) as Found;
    if (found.rows[0]?.total !== null) counts += 1;
    await after?.();
    return found;
  };
  const queries = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: unknown[]
  ) {
    const ask = () => query.apply(this, args);
    return JSON.stringify(args[0]).includes('matching') ? watch(ask) : ask();
  } as typeof pg.Client.prototype.query);
  await work().finally(() => queries.mockRestore());
  return { statements, counts };
}

test('a total is counted once per filter, and the last few are remembered', async () => {
  const askAll = (queries: readonly string[]) => watchStatements(() => Promise.all(queries.map(ask)));
  const pages = Array.from({ length: 10 }, (_, n) => `minTvlFiat=0&tier=red&offset=${n}`);
  expect(await askAll(pages)).toEqual({ statements: 10, counts: 1 });
  const others = Array.from({ length: MAX_TOTALS }, (_, n) => `minTvlFiat=${n + 1}`);
  expect(await askAll(others)).toEqual({ statements: MAX_TOTALS, counts: MAX_TOTALS });
  expect(await askAll([`minTvlFiat=${MAX_TOTALS}&count=7`])).toEqual({ statements: 1, counts: 0 });
  expect(await askAll(['minTvlFiat=0&tier=red&count=7'])).toEqual({ statements: 1, counts: 1 });
});

test.each(SORTS)('pages by %s are parts of one list', async (sortBy) => {
  for (const order of ['asc', 'desc']) {
    const list = `minTvlFiat=0&sortBy=${sortBy}&sortOrder=${order}`;
    const poolsOf = async (query: string) => (await ask(query)).body.data?.map(({ poolAddress }) => poolAddress);
    const all = (await poolsOf(`${list}&count=${POOLS}`)) ?? [];
    expect(new Set(all).size).toBe(POOLS);
    for (let offset = 0; offset < POOLS + 2; offset += 1) {
      expect(await poolsOf(`${list}&count=3&offset=${offset}`)).toEqual(all.slice(offset, offset + 3));
    }
  }
});

const publish = () => listing.pool.query('UPDATE operator.listing_window SET generation = generation + 1');

const once = (work: () => Promise<unknown>) => {
  let done: Promise<unknown> | undefined;
  return async () => {
    if (done) return;
    done = work();
    await done;
  };
};

test('requests that wait while a refresh comes and a total is counted neither count nor read again', async () => {
  const pages = Array.from({ length: 10 }, (_, n) => `minTvlFiat=0&tier=red,green&offset=${n}&count=5`);
  const work = () => Promise.all(pages.map(ask));
  expect(await watchStatements(work, { before: once(publish) })).toEqual({ statements: 10, counts: 1 });
});

test('a page that a refresh comes between is read again: all of it is of one refresh', async () => {
  const replace = async () => {
    for (const table of ['listed_pool', 'pool_listing']) {
      await listing.pool.query(`DELETE FROM operator.${table} WHERE pool = $1`, [seedAddress(0x1000)]);
    }
    await publish();
  };
  const work = async () => {
    const { body } = await ask('minTvlFiat=0&count=3&sortBy=tvl');
    expect(body).toMatchObject({ data: [1, 2, 3].map((n) => ({ poolAddress: seedAddress(0x1000 + n) })) });
    expect(body.total).toBe(POOLS - 1);
  };
  expect(await watchStatements(work, { after: once(replace) })).toEqual({ statements: 2, counts: 2 });
});

const statementOf = (make: typeof findStatement | typeof bookmarksStatement, request: string, chainIds = [CHAIN_A]) => {
  const raw = Object.fromEntries(new URLSearchParams(request));
  const scope = {
    single: chainIds.length === 1,
    chains: chainIds.map((chainId) => ({ chainId, factories: [FACTORY] })),
  };
  return make(toListingQuery({ ...raw, minTvlFiat: 0 }, SORTS), scope, 60, null);
};

test.each(['search=us', `addresses=${seedAddress(1)}`])(
  'pools that match %s are found before they are sorted',
  async (filter) => {
    const { text, values } = statementOf(findStatement, `minTvlFiat=0&${filter}`);
    const { rows } = await rarePages.query(`EXPLAIN ${text}`, values);
    expect(JSON.stringify(rows)).toContain('CTE Scan on matching');
  },
);

test('one page takes one core', async () => {
  const { rows } = await rarePages.query("SELECT current_setting('max_parallel_workers_per_gather') AS workers");
  expect(rows).toEqual([{ workers: '0' }]);
});

const ofOneChain = SORTS.map((sort) => ({ sort, chains: [CHAIN_A] }));
const ofSeveral = CROSS_CHAIN_SORTS.map((sort) => ({ sort, chains: [CHAIN_A, CHAIN_B] }));

const lists = [...ofOneChain, ...ofSeveral].flatMap((list) => [
  { ...list, name: 'before a page', make: findStatement },
  { ...list, name: 'between bookmarks', make: bookmarksStatement },
]);

test.each(lists)('rows $name by $sort of $chains are counted in an index', async ({ sort, chains, make }) => {
  const client = await listing.pool.connect();
  try {
    await client.query('VACUUM operator.pool_listing');
    await client.query('BEGIN');
    for (const way of ['seqscan', 'bitmapscan', 'sort']) await client.query(`SET LOCAL enable_${way} = off`);
    const { text, values } = statementOf(make, `sortBy=${sort}&offset=10`, chains);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Index Only Scan using pool_listing');
    expect(plan).not.toMatch(/Sort|Index Scan using pool_listing/);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});

import pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { startedWorld } from '../../test/harness/open-world.ts';
import { FACTORY, seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, openListing } from '../../test/metadata/listing-fixture.ts';
import { findStatement } from '../listing/listing-sql.ts';
import { toListingQuery } from '../listing/query.ts';
import { CROSS_CHAIN_SORTS, SORTS } from '../listing/query-string.ts';

const POOLS = 20;

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

type Body = { readonly total?: number; readonly data?: readonly { readonly poolAddress: string }[] };

const ask = async (query: string) => {
  const response = await listing.app.request(`/public/v1/evm/${CHAIN_A}/metadata?${query}`);
  return { status: response.status, body: (await response.json()) as Body };
};

const COMMON = 'minTvlFiat=0';
const UNAVAILABLE = { status: 503, body: { error: 'Service temporarily unavailable' } };

test('uncommon pages that take too long are 503, wait for each other alone, and leave connections to others', async () => {
  expect((await ask(COMMON)).body.total).toBe(POOLS);
  const holder = new pg.Client({ connectionString: listing.url });
  await holder.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE operator.pool_listing, operator.listed_pool');
    const uncommon = Array.from(
      { length: 20 },
      (_, n) => [`minTvlFiat=0&offset=${n + 1}`, `minTvlFiat=0.${n + 1}`, `addresses=${seedAddress(n)}`][n % 3],
    );
    const responses = Promise.all(uncommon.map((query) => ask(String(query))));
    expect((await ask(COMMON)).status).toBe(200);
    let [isOver, most] = [false, 0];
    void responses.finally(() => {
      isOver = true;
    });
    const begun = new Set<string>();
    while (!isOver) {
      const waiting = await waitingStatements();
      most = Math.max(most, waiting.length);
      for (const statement of waiting) begun.add(statement);
    }
    expect(most).toBe(2);
    expect(await responses).toEqual(uncommon.map(() => UNAVAILABLE));
    // Two of them run until their statements are cancelled, two more when these end; the others have waited too long.
    // Two after two, all would run.
    expect(begun.size).toBeGreaterThanOrEqual(2);
    expect(begun.size).toBeLessThan(uncommon.length / 2);
    expect((await ask(COMMON)).status).toBe(200);
  } finally {
    await holder.end();
  }
  expect((await ask('minTvlFiat=0&offset=1')).body.total).toBe(POOLS);
});

/** Connection and beginning of each. */
async function waitingStatements(): Promise<string[]> {
  const { rows } = await listing.pool.query<{ readonly statement: string }>(
    `SELECT pid || ' ' || query_start AS statement FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.map(({ statement }) => statement);
}

type Hooks = { readonly before?: () => Promise<unknown>; readonly after?: () => Promise<unknown> };

/** Statements that found pools while the work was done, and those that counted them. */
async function watchStatements(work: () => Promise<unknown>, { before, after }: Hooks = {}) {
  const query: (...args: unknown[]) => unknown = pg.Client.prototype.query;
  let [found, counts] = [0, 0];
  const watch = async (run: () => unknown, isCount: boolean) => {
    await before?.();
    const result = await run();
    if (isCount) counts += 1;
    else found += 1;
    await after?.();
    return result;
  };
  const queries = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: unknown[]
  ) {
    const run = () => query.apply(this, args);
    const text = JSON.stringify(args[0]);
    return text.includes('matching') ? watch(run, text.includes('AS total')) : run();
  } as typeof pg.Client.prototype.query);
  await work().finally(() => queries.mockRestore());
  return { found, counts };
}

test('a total is counted once per filter and refresh', async () => {
  const askAll = (queries: readonly string[]) => watchStatements(() => Promise.all(queries.map(ask)));
  const pages = Array.from({ length: 10 }, (_, n) => `minTvlFiat=0&tier=red&offset=${n}`);
  expect(await askAll(pages)).toEqual({ found: 10, counts: 1 });
  expect(await askAll(['minTvlFiat=0&tier=red&count=7'])).toEqual({ found: 1, counts: 0 });
  await publish();
  expect(await askAll(['minTvlFiat=0&tier=red&count=7'])).toEqual({ found: 1, counts: 1 });
});

test('a page is of one version, whatever refresh comes between its statements; so is the next one', async () => {
  const replace = async () => {
    for (const table of ['listed_pool', 'pool_listing']) {
      await listing.pool.query(`DELETE FROM operator.${table} WHERE pool = $1`, [seedAddress(0x1000)]);
    }
    await publish();
  };
  const pageOf = (from: number) => ({
    data: [0, 1, 2].map((n) => ({ poolAddress: seedAddress(0x1000 + from + n) })),
    total: POOLS - from,
  });
  const request = 'minTvlFiat=0&count=3&sortBy=tvl';
  await watchStatements(async () => expect((await ask(request)).body).toMatchObject(pageOf(0)), {
    after: once(replace),
  });
  expect((await ask(request)).body).toMatchObject(pageOf(1));
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

const statementOf = (request: string, chainIds = [CHAIN_A]) => {
  const raw = Object.fromEntries(new URLSearchParams(request));
  const chains = chainIds.map((chainId) => ({ chainId, factories: [FACTORY] }));
  return findStatement(toListingQuery({ ...raw, minTvlFiat: 0 }, SORTS), chains, 60);
};

test.each(['search=us', `addresses=${seedAddress(1)}`])(
  'pools that match %s are found before they are sorted',
  async (filter) => {
    const { text, values } = statementOf(`minTvlFiat=0&${filter}`);
    const { rows } = await listing.pool.query(`EXPLAIN ${text}`, values);
    expect(JSON.stringify(rows)).toContain('CTE Scan on matching');
  },
);

/** Trends and persistence are other tables: their few rows are sorted each time. */
const isIndexed = (sort: (typeof SORTS)[number]) => !['change', 'depth', 'persistence'].includes(sort);
const ofOneChain = SORTS.filter(isIndexed).map((sort) => ({ sort, chains: [CHAIN_A] }));
const ofSeveral = CROSS_CHAIN_SORTS.filter(isIndexed).map((sort) => ({ sort, chains: [CHAIN_A, CHAIN_B] }));

test.each([...ofOneChain, ...ofSeveral])(
  'rows before a page by $sort of $chains are passed over in an index of each chain',
  async ({ sort, chains }) => {
    const client = await listing.pool.connect();
    try {
      await client.query('VACUUM operator.pool_listing');
      await client.query('BEGIN');
      for (const way of ['seqscan', 'bitmapscan', 'sort']) await client.query(`SET LOCAL enable_${way} = off`);
      const { text, values } = statementOf(`sortBy=${sort}&offset=10`, chains);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan.match(/Index Only Scan using pool_listing/g)?.length).toBe(chains.length);
      // What is left to sort are the chains of one address.
      expect(plan.replaceAll('Incremental Sort', '')).not.toMatch(/-> {2}Sort|Index Scan using pool_listing/);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  },
);

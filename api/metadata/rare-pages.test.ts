import { Hono } from 'hono';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { createLogger } from '../../runtime/logger.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, type Listing, openListing } from '../../test/metadata/listing-fixture.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { mountHandlers } from '../declaration/mount-routes.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { metadataResource } from './metadata.ts';

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
  rarePages = openDatabase(listing.url, createLogger('test', 'silent'), 2, 100).$client;
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

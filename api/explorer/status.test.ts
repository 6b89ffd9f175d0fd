import { Hono } from 'hono';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAIN_B, type Listing, openListing } from '../../test/metadata/listing-fixture.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { mountHandlers } from '../declaration/mount-routes.ts';
import type { ChainLag } from '../observability/chain-lag.ts';
import { statusResource } from './status.ts';
import { ServiceStatus } from './status-declaration.ts';

let listing: Listing;
beforeAll(async () => {
  listing = await openListing();
});
afterAll(() => listing?.close());

const lag: ChainLag = {
  chainId: CHAIN_A,
  name: 'devnet-a',
  indexedBlock: 1_000,
  indexedTimestamp: 5_000,
  headBlock: 1_002,
  lagBlocks: 2,
  lagSecs: 3,
  stalled: false,
};
const unknown: ChainLag = {
  chainId: CHAIN_B,
  name: 'Devnet-B',
  indexedBlock: null,
  indexedTimestamp: null,
  headBlock: null,
  lagBlocks: null,
  lagSecs: null,
  stalled: true,
};

async function status(database: pg.Pool): Promise<ServiceStatus> {
  const app = new Hono();
  mountHandlers(app, bindRoutes(statusResource, { lags: () => [lag, unknown], database }));
  const response = await app.request('/public/v1/status');
  expect(response.status).toBe(200);
  return ServiceStatus.parse(await response.json());
}

const NO_AGES = { newestPriceAgeSecs: null, oldestPriceAgeSecs: null, listingAgeSecs: null };

test('tells head, index, lag and the ages of prices and listing by chain; what is not known is null', async () => {
  const { stalled: _, ...shown } = lag;
  expect((await status(listing.pool)).chains[0]).toEqual({ ...shown, following: true, ...NO_AGES });
  await listing.refresh();
  for (const [pool, age] of [
    [0x1001, 5],
    [0x1002, 40],
  ] as const) {
    await listing.pool.query(
      `INSERT INTO operator.price_health (chain_id, pool, status, block_number, block_timestamp, captured_at)
       VALUES ($1, $2, 'healthy', 1, 1, now() - make_interval(secs => $3))`,
      [CHAIN_A, seedAddress(pool), age],
    );
  }
  const { chains, serverTs } = await status(listing.pool);
  expect(Math.abs(serverTs - Date.now() / 1000)).toBeLessThan(30);
  const [first, second] = chains;
  expect(first?.newestPriceAgeSecs).toBeGreaterThanOrEqual(5);
  expect(first?.oldestPriceAgeSecs).toBeGreaterThanOrEqual(40);
  expect(first?.listingAgeSecs).toBeGreaterThanOrEqual(0);
  expect(second).toMatchObject({ following: false, headBlock: null, lagBlocks: null, newestPriceAgeSecs: null });
});

test('answers without ages while the database does not', async () => {
  const away = new pg.Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
  const { chains } = await status(away);
  expect(chains.map(({ chainId, headBlock }) => [chainId, headBlock])).toEqual([
    [CHAIN_A, 1_002],
    [CHAIN_B, null],
  ]);
  expect(chains[0]).toMatchObject(NO_AGES);
  await away.end();
});

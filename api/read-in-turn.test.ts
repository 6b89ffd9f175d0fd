import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { mountHandlers } from '../test/harness/mount-handlers.ts';
import { startedWorld } from '../test/harness/open-world.ts';
import { seedAddress, seedPools, seedToken, TOKEN0, TOKEN1 } from '../test/harness/seed-pools.ts';
import { stopTime, until } from '../test/harness/stopped-time.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../test/metadata/listing-fixture.ts';
import { tradedPool } from '../test/metadata/traded-pool.ts';
import { fixedDirectory } from '../test/quotes/served-pool.ts';
import { bindRoutes } from './declaration/api-route.ts';
import { historyResource } from './history/history.ts';
import { tradesResource } from './trades/trades.ts';
import { udfResource } from './udf/udf.ts';

const POOL = seedAddress(0x1001);

const listing = startedWorld(openListing);

beforeAll(async () => {
  for (const address of [TOKEN0, TOKEN1]) await seedToken(listing.db, { chainId: CHAIN_A, address });
  await seedPools(listing.db, [{ pool: { chainId: CHAIN_A, address: POOL } }]);
  await listing.refresh();
  const deps = {
    chains: new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain])),
    directory: fixedDirectory([tradedPool(POOL)]),
    database: listing.pool,
    wallClock: Date.now,
  };
  for (const resource of [historyResource, tradesResource]) mountHandlers(listing.app, bindRoutes(resource, deps));
  mountHandlers(listing.app, bindRoutes(udfResource, deps));
});

const at = `/public/v1/evm/${CHAIN_A}`;
const udf = '/public/v1/udf';
const HISTORY = [
  `${at}/${POOL}/days`,
  `${at}/${POOL}/ohlcv`,
  `${at}/${POOL}/ohlcv?series=mid&currency=usd`,
  `${at}/${POOL}/depth_history`,
  `${at}/${POOL}/trades`,
  `${udf}/symbols?symbol=${CHAIN_A}:${POOL}`,
  `${udf}/search?query=weth`,
  `${udf}/history?symbol=${CHAIN_A}:${POOL}&resolution=1D&from=0&to=1795000000`,
  `${at}/metadata?minTvlFiat=0&offset=1`,
];
/** What they read, each of them one at least. */
const TABLES = `live.swap, live.pool_activity, history.trade_bar, history.quote_minute, operator.listed_pool`;
/** Asks the database for the version of the listing. */
const COMMON = `${at}/metadata?minTvlFiat=0`;
const ask = async (path: string) => (await listing.app.request(path)).status;

test('history, trades, bars for charts and rare pages wait for each other alone: a common page is served at once', async () => {
  expect(await ask(COMMON)).toBe(200);
  for (const path of HISTORY) expect([path, await ask(path)]).toEqual([path, 200]);
  await whileLocked(async ({ countWaiting, release }) => {
    const answers = Promise.all(HISTORY.map(ask));
    expect(await countWaiting(2)).toBe(2);
    expect(await ask(COMMON)).toBe(200);
    expect(await countWaiting(2)).toBe(2);
    await release();
    expect(await answers).toEqual(HISTORY.map(() => 200));
  });
});

test('two hundred reads wait for their turn; one more is 503 at once', async () => {
  await whileLocked(async ({ countWaiting, release }) => {
    let refused = 0;
    const answers = Array.from({ length: 210 }, async () => {
      if ((await ask(`${at}/${POOL}/days`)) === 503) refused += 1;
    });
    await until(() => refused >= 8);
    expect(refused).toBe(8);
    expect(await countWaiting(2)).toBe(2);
    expect(await ask(COMMON)).toBe(200);
    await release();
    await Promise.all(answers);
  });
});

interface Locked {
  /** Statements that wait for a lock, once there are so many; counted on a connection that no request takes. */
  readonly countWaiting: (expected: number) => Promise<number>;
  readonly release: () => Promise<unknown>;
}

/**
 * Holds the tables that history reads until it is released, at the latest when the work ends. Time stands still:
 * how long a read waits for its turn depends on the machine.
 */
async function whileLocked(work: (locked: Locked) => Promise<void>): Promise<void> {
  stopTime();
  const holder = new pg.Client({ connectionString: listing.url });
  const watcher = new pg.Client({ connectionString: listing.url });
  await Promise.all([holder.connect(), watcher.connect()]);
  const countWaiting = async (expected: number): Promise<number> => {
    for (;;) {
      const { rows } = await watcher.query(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      if (rows.length >= expected) return rows.length;
    }
  };
  try {
    await holder.query(`BEGIN; LOCK TABLE ${TABLES}`);
    await work({ countWaiting, release: () => holder.query('ROLLBACK') });
  } finally {
    await Promise.all([holder.end(), watcher.end()]);
  }
}

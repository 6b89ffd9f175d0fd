import { Hono } from 'hono';
import { beforeAll, expect, test } from 'vitest';
import { swap } from '../../indexer/ponder.schema.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, seedPools } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { swapRow, tradedPool } from '../../test/metadata/traded-pool.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { historyResource } from './history.ts';
import { TrendsPage } from './trends-declaration.ts';

const [QUOTED, TRADED, STILL] = [seedAddress(0x1001), seedAddress(0x1002), seedAddress(0x1003)];
const DUSTY = seedAddress(0x1004);
const Q64 = 1n << 64n;
const QUARTER = 900;
/** Start of the newest block's quarter of an hour. */
const LAST = 1_794_960_000;

const listing = startedWorld(openListing);
let app: Hono;

beforeAll(async () => {
  const { pool: database, db } = listing;
  await seedPools(
    db,
    [QUOTED, TRADED, STILL, DUSTY].map((address) => ({ pool: { chainId: CHAIN_A, address } })),
  );
  await database.query(
    `SELECT history.keep_partitions('quote_minute', day, 0) FROM generate_series($1::int8, $2::int8, 86400) day`,
    [LAST - 2 * 86_400, LAST],
  );
  await sample(LAST - 90_000, 1_000n, 1_000n);
  await sample(LAST - 40 * QUARTER + 5, 1_999n, 2_001n);
  await sample(LAST - 40 * QUARTER + 800, 1_998n, 2_001n, ['1', '2', '3', '4000'], ['5', '6', '7', '8000']);
  await sample(LAST - 39 * QUARTER, 1_999n, 2_002n);
  await sample(LAST - 20 * QUARTER, null, null);
  await trade(1, LAST - 50 * QUARTER + 9, 2n * 10n ** 18n, -4_000_000_000n);
  await trade(2, LAST - 50 * QUARTER + 10, 10n ** 18n, -2_000_000_000n);
  await trade(3, LAST - 8 * QUARTER, -(10n ** 18n), 1_987_654_321n);
  await trade(4, LAST - 8 * QUARTER, 10n ** 18n, -1n, DUSTY);
  await trade(5, LAST, 1n, -(10n ** 18n), DUSTY);
  await setIndexedBlock(database, { chainId: CHAIN_A, number: 1_000, timestamp: LAST + 7 });
  app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  const directory = fixedDirectory([QUOTED, TRADED, STILL, DUSTY].map((address) => tradedPool(address)));
  mountHandlers(app, bindRoutes(historyResource, { chains, directory, database, wallClock: Date.now }));
});

const sample = (ts: number, bid: bigint | null, ask: bigint | null, bids?: string[], asks?: string[]) =>
  listing.pool.query(
    `INSERT INTO history.quote_minute (chain_id, pool, block_timestamp, block_number, status, bid_x64, ask_x64, is_change,
       bid_depth_raw, ask_depth_raw) VALUES ($1, $2, $3, 1, $4, $5, $6, false, $7, $8)`,
    [
      CHAIN_A,
      QUOTED,
      ts,
      bid ? 'healthy' : 'feed_down',
      bid && String(bid * Q64),
      ask && String(ask * Q64),
      bids,
      asks,
    ],
  );

const trade = (blockNumber: number, blockTimestamp: number, amount0Raw: bigint, amount1Raw: bigint, pool = TRADED) =>
  listing.db.insert(swap).values(
    swapRow({
      pool,
      blockNumber,
      blockTimestamp,
      logIndex: 0,
      transactionHash: `0x${String(blockNumber).padStart(64, '0')}`,
      zeroForOne: amount0Raw > 0n,
      amount0Raw,
      amount1Raw,
    }),
  );

const get = (addresses: string) => app.request(`/public/v1/evm/${CHAIN_A}/trends?addresses=${addresses}`);

test('trends are the last middles of quotes, or prices of trades, as changes from the first one of the day', async () => {
  const response = await get([TRADED, seedAddress(9), QUOTED.toUpperCase().replace('X', 'x'), STILL].join());
  const { data } = TrendsPage.parse(await response.json());
  expect(data.map(({ poolAddress }) => poolAddress)).toEqual([TRADED, QUOTED, STILL]);
  /** The values that are there, by how many quarters of an hour ago they began. */
  const known = data.map(({ changesE6 }) =>
    changesE6.flatMap((change, step) => (change === null ? [] : [[95 - step, change]])),
  );
  expect(known).toEqual([
    [
      [50, 0],
      [8, Math.trunc((1_987.654321 / 2_000 - 1) * 1e6)],
    ],
    [
      [40, 0],
      [39, Math.trunc((2_000.5 / 1_999.5 - 1) * 1e6)],
    ],
    [],
  ]);
  expect(data.map(({ depth }) => depth)).toEqual([null, { bps: 100, bidRaw: '4000', askRaw: '8000' }, null]);
});

test('a trade of dust changes a price by no more than an integer of JSON holds', async () => {
  const { data } = TrendsPage.parse(await (await get(DUSTY)).json());
  expect(data[0]?.changesE6.filter((change) => change !== null)).toEqual([0, Number.MAX_SAFE_INTEGER]);
});

test('wrong addresses, too many and unknown chains are rejected', async () => {
  const many = Array.from({ length: 101 }, (_, n) => seedAddress(n + 1)).join();
  for (const addresses of ['', '0x12', many]) expect((await get(addresses)).status).toBe(400);
  expect((await app.request(`/public/v1/evm/${CHAIN_A}/trends`)).status).toBe(400);
  expect((await app.request(`/public/v1/evm/5/trends?addresses=${STILL}`)).status).toBe(404);
});

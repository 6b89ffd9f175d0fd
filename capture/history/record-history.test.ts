import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HistoryConfig } from '../../config/chains-schema.ts';
import { actAs } from '../../db/process-roles.ts';
import { createIndexedDatabase } from '../../test/harness/indexed-database.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { recordFiatPrices } from './record-fiat-prices.ts';
import { recordQuotes } from './record-quotes.ts';

const CHAIN = 5;
const [FUNDED, OTHER] = [seedAddress(1), seedAddress(2)];
const KEPT = HistoryConfig.parse({});
const DAY = 86_400;
/** The start of an hour and a day. */
const START = 1_800_057_600;

const database = startedWorld(createIndexedDatabase);
/** With the rights of the process alone. */
let capture: pg.Pool;

beforeAll(async () => {
  capture = new pg.Pool({ connectionString: actAs(database.url, 'ptd_capture'), max: 2 });
  capture.on('error', () => undefined); // Dropping the database ends its sessions.
});

afterAll(() => capture.end());

const pools = async () =>
  [FUNDED, OTHER].map((address) => ({
    chainId: CHAIN,
    address,
    isFunded: address === FUNDED,
    valueUsd: 1,
    token0: address === FUNDED ? TOKEN0 : seedAddress(8),
    token1: address === FUNDED ? TOKEN1 : seedAddress(9),
  }));

async function read(ts: number, status: string, bid: bigint | null, ask: bigint | null): Promise<void> {
  for (const pool of [FUNDED, OTHER]) {
    await database.client.query(
      `INSERT INTO operator.price_health VALUES ($1, $2, $3, $4, $5, $6, $6, now())
       ON CONFLICT (chain_id, pool) DO UPDATE SET status = excluded.status, sell_price_x64 = excluded.sell_price_x64,
         buy_price_x64 = excluded.buy_price_x64, block_number = excluded.block_number, block_timestamp = excluded.block_timestamp`,
      [CHAIN, pool, status, bid === null ? null : String(bid), ask === null ? null : String(ask), ts],
    );
  }
}

const sample = (nowSecs: number) =>
  recordQuotes({ database: capture, chainId: CHAIN, pools, kept: KEPT, recordDepth: async () => undefined }, nowSecs);

const samples = async () =>
  (
    await capture.query(
      'SELECT pool, block_timestamp AS ts, status, bid_x64 AS bid, is_change AS change FROM history.quote_minute ORDER BY 2',
    )
  ).rows.map(({ ts, ...row }) => ({ ...row, ts: Number(ts) - START }));

const partitions = async (table: string) =>
  (
    await database.client.query<{ day: number }>(
      `SELECT (substr(relname, length($1) + 2)::int8 - $2)::int / 86400 AS day FROM pg_class
       WHERE relname ~ ('^' || $1 || '_[0-9]+$') AND relkind = 'r' ORDER BY 1`,
      [table, START],
    )
  ).rows.map(({ day }) => day);

test('quotes of funded pools are sampled once a minute and at ten changes of status an hour, and hours are their bars', async () => {
  const huge = 2n ** 127n;
  const reads: [number, string, bigint | null, bigint | null][] = [
    [0, 'healthy', 100n, 103n],
    [20, 'healthy', 999n, 9_999n],
    [60, 'healthy', huge, huge + 1n],
    [70, 'feed_down', null, null],
    [121, 'healthy', 50n, 60n],
    [3_599, 'healthy', 70n, 75n],
    [3_600, 'healthy', 80n, 85n],
  ];
  for (const [ts, status, bid, ask] of reads) {
    await read(START + ts, status, bid, ask);
    for (let round = 0; round < 2; round++) await sample(START + ts + 2);
  }
  expect((await samples()).map(({ pool, ts, status, change }) => [pool, ts, status, change])).toEqual([
    [FUNDED, 0, 'healthy', false],
    [FUNDED, 60, 'healthy', false],
    [FUNDED, 70, 'feed_down', true],
    [FUNDED, 121, 'healthy', false],
    [FUNDED, 3_599, 'healthy', false],
    [FUNDED, 3_600, 'healthy', false],
  ]);
  const hours = async () => (await capture.query('SELECT * FROM history.quote_hour ORDER BY hour_ts')).rows;
  expect(await hours()).toEqual([]);
  await sample(START + 3_900);
  await sample(START + 3_960);
  const half = (sum: bigint) => `${sum / 2n}.${sum % 2n === 0n ? '0' : '5'}`;
  expect(await hours()).toHaveLength(1);
  const [bar] = await hours();
  expect(bar).toMatchObject({
    pool: FUNDED,
    sample_count: 4,
    open_bid_x64: '100',
    high_bid_x64: String(huge),
    low_bid_x64: '50',
    close_bid_x64: '70',
    open_ask_x64: '103',
    close_ask_x64: '75',
  });
  // Half of an odd sum is exact.
  const mids = [bar.open_mid_x64, bar.high_mid_x64, bar.low_mid_x64, bar.close_mid_x64];
  const exact = [half(203n), half(2n * huge + 1n), half(110n), half(145n)];
  expect(mids.map((mid) => mid.replace(/(\.\d)0*$/, '$1'))).toEqual(exact);

  for (let i = 0; i < 25; i++) {
    await read(START + 7_201 + i, i % 2 === 0 ? 'healthy' : 'pool_paused', null, null);
    await sample(START + 7_201 + i);
  }
  const changes = (await samples()).filter(({ change, ts }) => change && ts > 7_200);
  expect(changes).toHaveLength(10);
});

test('whole days of samples and hours are dropped when they are too old, and the next day is ready', async () => {
  expect(await partitions('quote_minute')).toEqual([0, 1]);
  await read(START + 7 * DAY + 5, 'healthy', 1n, 2n);
  await sample(START + 8 * DAY - 1);
  expect(await partitions('quote_minute')).toEqual([0, 1, 7, 8]);
  await sample(START + 8 * DAY);
  expect(await partitions('quote_minute')).toEqual([1, 7, 8]);
  expect((await capture.query('SELECT FROM history.quote_hour WHERE hour_ts = $1', [START])).rowCount).toBe(1);
  await sample(START + 91 * DAY);
  expect((await partitions('quote_hour')).at(0)).toBeGreaterThanOrEqual(1);
  expect((await capture.query('SELECT FROM history.quote_hour WHERE hour_ts = $1', [START])).rowCount).toBe(0);
});

test('an hour of a chain that is behind has one bar of all its samples', async () => {
  const from = START + 92 * DAY;
  for (const [secs, bid] of [
    [60, 10n],
    [1_800, 30n],
    [3_599, 20n],
    [3_600, 99n],
  ] as const) {
    await read(from + secs, 'healthy', bid, bid + 1n);
    await sample(from + secs + 4_200);
  }
  const { rows } = await capture.query(
    'SELECT hour_ts::int - $1 AS hour, high_bid_x64 AS high, close_bid_x64 AS close, sample_count AS count FROM history.quote_hour WHERE hour_ts >= $1',
    [from],
  );
  expect(rows).toEqual([{ hour: 0, high: '30', close: '20', count: 3 }]);
});

test('jobs that make partitions at once wait for each other, longer than readers would', async () => {
  const [one, other] = [await capture.connect(), await capture.connect()];
  try {
    await one.query('BEGIN');
    await one.query("SELECT history.keep_partitions('quote_minute', $1, 0)", [START + 200 * DAY]);
    const waiting = other.query("SELECT history.keep_partitions('quote_hour', $1, 0)", [START + 200 * DAY]);
    const waits = async () => {
      const { rowCount } = await database.client.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND clock_timestamp() - query_start > interval '600 ms'`,
      );
      return rowCount;
    };
    await expect.poll(waits).toBe(1);
    await one.query('COMMIT');
    await waiting;
  } finally {
    one.release(true);
    other.release(true);
  }
  expect(await partitions('quote_hour')).toEqual(expect.arrayContaining([200, 201]));
});

test("prices of funded pools' tokens are recorded where they change, once a minute at most, and say what held when", async () => {
  const price = (token: string, usd: number, age = '0 s') =>
    database.client.query(
      `INSERT INTO operator.fiat_price VALUES ($1, $2, $3, 'static', now() - $4::interval)
       ON CONFLICT (chain_id, token) DO UPDATE SET usd = excluded.usd, priced_at = excluded.priced_at`,
      [CHAIN, token, usd, age],
    );
  await price(TOKEN0, 2.5);
  await price(TOKEN1, 1, '2 h');
  await price(seedAddress(8), 7);
  const recordAt = (secs: number) =>
    recordFiatPrices({ database: capture, fiatMaxAgeSecs: 5_400, pools }, START + secs);
  const rows = async (table: string) => {
    const found = await capture.query(`SELECT token, ts, usd FROM history.${table} ORDER BY ts`);
    return found.rows.map(({ token, ts, usd }) => [token, Number(ts) - START, usd]);
  };
  for (const secs of [90, 119, 120, 3_599]) await recordAt(secs);
  expect(await rows('fiat_price_minute')).toEqual([[TOKEN0, 60, 2.5]]);
  expect(await rows('fiat_price_hour')).toEqual([[TOKEN0, 0, 2.5]]);

  await recordAt(3_600);
  await price(TOKEN0, 3);
  // This minute has its price.
  await recordAt(3_659);
  expect(await rows('fiat_price_minute')).toEqual([60, 3_600].map((ts) => [TOKEN0, ts, 2.5]));
  await recordAt(3_725);
  expect((await rows('fiat_price_minute')).slice(2)).toEqual([[TOKEN0, 3_720, 3]]);
  expect(await rows('fiat_price_hour')).toEqual([0, 3_600].map((ts) => [TOKEN0, ts, 2.5]));

  const usdAt = async (secs: number) =>
    (await capture.query('SELECT history.usd_at($1, $2, $3) AS usd', [CHAIN, TOKEN0, START + secs])).rows[0].usd;
  const at = [-1, 0, 3_719, 3_720, 10_919, 10_920];
  expect(await Promise.all(at.map(usdAt))).toEqual([null, 2.5, 2.5, 3, 3, null]);
});

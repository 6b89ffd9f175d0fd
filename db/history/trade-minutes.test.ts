import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createIndexedDatabase } from '../../test/harness/indexed-database.ts';
import {
  createOnchainTables,
  ONCHAIN_SCHEMA,
  publishLiveViews,
  setIndexedBlock,
} from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { openSeeder, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { actAs } from '../process-roles.ts';
import { anySwaps, type Bar, barsOf, CHAIN, POOLS, START, type Swap, swapAt } from './counted-bars.fixture.ts';
import { writeTradeMinutes } from './trade-minutes.ts';

const NEXT = 'onchain_next';

const database = startedWorld(createIndexedDatabase);
let pool: pg.Pool;

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: database.url, max: 4 });
  pool.on('error', () => undefined); // Dropping the database ends its sessions.
  await createOnchainTables(database.client, NEXT);
  await publishLiveViews(database.client);
  for (const schema of [ONCHAIN_SCHEMA, NEXT]) {
    const seeder = openSeeder(database.url, schema);
    await seedToken(seeder.db, { chainId: CHAIN, address: TOKEN0, decimals: 6 });
    await seedToken(seeder.db, { chainId: CHAIN, address: TOKEN1, decimals: 2 });
    await seedPools(
      seeder.db,
      POOLS.map((address) => ({ pool: { chainId: CHAIN, address } })),
    );
    await seeder.end();
  }
});

afterAll(() => pool.end());

beforeEach(() => reset());

async function reset(): Promise<void> {
  await publishLiveViews(database.client);
  await database.client.query(`
    TRUNCATE history.trade_mark, history.trade_bar, history.fiat_price_minute, history.fiat_price_hour,
      ${ONCHAIN_SCHEMA}.swap, ${NEXT}.swap, ${ONCHAIN_SCHEMA}._ponder_checkpoint, ${NEXT}._ponder_checkpoint`);
}

/** Says that swaps before this time are final, and a minute older than the index. */
async function settle(number: number, timestamp: number, schema = ONCHAIN_SCHEMA): Promise<void> {
  const block = { chainId: CHAIN, number, timestamp: timestamp + 60, isFinal: true };
  await setIndexedBlock(database.client, block, schema);
}

async function insert(swaps: readonly Swap[], schema = ONCHAIN_SCHEMA): Promise<void> {
  await database.client.query(
    `INSERT INTO ${schema}.swap (chain_id, block_number, block_timestamp, log_index, transaction_hash, pool, sender, recipient,
       transaction_from, transaction_index, zero_for_one, exact_input, amount0_raw, amount1_raw, parts)
     SELECT ${CHAIN}, block, ts, log_index, '0x', pool, '0x', '0x', '0x', 0,
       CASE WHEN amount0 > 0 OR amount1 < 0 THEN true WHEN amount1 > 0 OR amount0 < 0 THEN false END, true, amount0, amount1, '{}'
     FROM json_to_recordset($1) AS s (block int8, ts int8, log_index int4, pool text, amount0 numeric, amount1 numeric)`,
    [
      JSON.stringify(
        swaps.map(({ logIndex, amount0, amount1, ...rest }) => ({
          ...rest,
          log_index: logIndex,
          amount0: String(amount0),
          amount1: String(amount1),
        })),
      ),
    ],
  );
}

async function barsIn(
  of: string,
  secs: number,
  from: number,
  to: number,
): Promise<(Bar & { readonly isFinal: boolean })[]> {
  const pair = (name: string) => `array_to_string(${name}_price, ':') AS ${name}`;
  const { rows } = await pool.query(
    `SELECT start_ts, ${['open', 'high', 'low', 'close'].map(pair).join(', ')}, volume0_raw, volume1_raw, swap_count, is_final
     FROM read_model.trade_bars($1, $2, $3, $4, $5) ORDER BY 1`,
    [CHAIN, of, secs, from, to],
  );
  return rows.map((row) => ({
    start: Number(row.start_ts),
    prices: [row.open, row.high, row.low, row.close],
    volumes: [row.volume0_raw, row.volume1_raw],
    swaps: Number(row.swap_count),
    isFinal: row.is_final,
  }));
}

test('bars of minutes and of longer intervals are those counted by hand, however far they are written, in any batches', async () => {
  const plan = fc.record({
    swaps: anySwaps,
    stops: fc.array(fc.nat(4_000), { maxLength: 4 }),
    batch: fc.integer({ min: 1, max: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ swaps, stops, batch }) => {
      await reset();
      await insert(swaps);
      for (const stop of [...stops].sort((a, b) => a - b)) {
        await settle(1, START + stop);
        await writeTradeMinutes(pool, undefined, batch);
      }
      const until = stops.length > 0 ? START + Math.floor(Math.max(...stops) / 60) * 60 : 0;
      const { rows } = await pool.query(
        'SELECT coalesce(max(start_ts), 0) AS last, sum(swap_count)::int AS swaps FROM history.trade_bar WHERE secs = 60',
      );
      expect(Number(rows[0].last)).toBeLessThan(Math.max(until, 1));
      expect(rows[0].swaps ?? 0).toBe(swaps.filter(({ ts }) => ts < until).length);
      for (const of of POOLS) {
        for (const secs of [60, 300, 420, 900, 3_600, 14_400, 86_400]) {
          const expected = barsOf(swaps, of, secs).map((bar) => ({ ...bar, isFinal: bar.start + secs <= until }));
          const from = START - (START % secs);
          expect(await barsIn(of, secs, from, from + 20 * 86_400)).toEqual(expected);
        }
      }
    }),
    { numRuns: runs(12) },
  );
});

test('swaps that a reorganisation replaces are those of the bars, as only final minutes are kept', async () => {
  await insert([swapAt(START + 5, 1, 10n, -20n), swapAt(START + 65, 2, 10n, -30n)]);
  await settle(1, START + 60);
  await writeTradeMinutes(pool);
  await database.client.query(`DELETE FROM ${ONCHAIN_SCHEMA}.swap WHERE block_number = 2`);
  const replaced = swapAt(START + 70, 2, 10n, -7n);
  await insert([replaced]);
  const bars = await barsIn(POOLS[0] ?? '', 300, START, START + 300);
  expect(bars).toMatchObject([{ prices: ['10:20', '10:20', '10:7', '10:7'], swaps: 2, isFinal: false }]);
  await settle(9, START + 300);
  await writeTradeMinutes(pool);
  expect(await barsIn(POOLS[0] ?? '', 300, START, START + 300)).toMatchObject([{ ...bars[0], isFinal: true }]);
});

test('a minute counts as final once rows that Ponder takes back until the next block are there again', async () => {
  const swaps = [swapAt(START + 5, 1, 10n, -20n), swapAt(START + 50, 2, 10n, -30n)];
  await insert(swaps);
  const bars = async () =>
    (await barsIn(POOLS[0] ?? '', 60, START, START + 60)).map(({ swaps, isFinal }) => [swaps, isFinal]);
  const index = async (timestamp: number) => {
    await setIndexedBlock(database.client, { chainId: CHAIN, number: 3, timestamp, isFinal: true });
    await writeTradeMinutes(pool);
    return bars();
  };
  await database.client.query(`DELETE FROM ${ONCHAIN_SCHEMA}.swap WHERE block_number = 2`);
  expect(await index(START + 60)).toEqual([[1, false]]);
  await insert(swaps.slice(1));
  expect(await bars()).toEqual([[2, false]]);
  expect(await index(START + 119)).toEqual([[2, false]]);
  expect(await index(START + 120)).toEqual([[2, true]]);
});

test('readers turn to the bars of another index with its views, and an index made again under its name starts over', async () => {
  await insert([swapAt(START, 1, 10n, -20n)]);
  await insert([swapAt(START, 1, 10n, -50n)], NEXT);
  for (const schema of [ONCHAIN_SCHEMA, NEXT]) {
    await settle(9, START + 60, schema);
  }
  // With the rights of the process that does it.
  const capture = new pg.Pool({ connectionString: actAs(database.url, 'ptd_capture'), max: 1 });
  await writeTradeMinutes(capture);
  await capture.end();
  const close = async () => {
    for (const role of ['analyst', 'ptd_api']) {
      await pool.query(
        `SET ROLE ${role}; SELECT FROM read_model.trade_bars(5, '', 60, 0, 60); TABLE read_model.trade_candle; RESET ROLE`,
      );
    }
    const { rows } = await pool.query('SELECT close FROM read_model.trade_candle');
    return [rows.map((row) => row.close), (await barsIn(POOLS[0] ?? '', 60, START, START + 60))[0]?.prices[3]];
  };
  expect(await close()).toEqual([[20_000], '10:20']);
  await publishLiveViews(database.client, NEXT);
  expect(await close()).toEqual([[50_000], '10:50']);

  await database.client.query(`SET ROLE ptd_indexer; ALTER TABLE ${NEXT}.swap RENAME TO swap_of_old_index;
    CREATE TABLE ${NEXT}.swap (LIKE ${NEXT}.swap_of_old_index INCLUDING ALL); RESET ROLE`);
  await publishLiveViews(database.client, NEXT);
  await insert([swapAt(START, 1, 10n, -70n)], NEXT);
  await writeTradeMinutes(pool);
  expect(await close()).toEqual([[70_000], '10:70']);
});

test('bars are written while those of a dropped index, which may be millions, are removed', async () => {
  await insert([swapAt(START, 1, 10n, -20n)]);
  await settle(9, START + 60);
  await database.client.query(`
    INSERT INTO history.trade_mark VALUES ('onchain_gone', ${CHAIN}, 0, 0, -1);
    INSERT INTO history.trade_bar (index_schema, chain_id, pool, secs, start_ts, volume0_raw, volume1_raw, swap_count)
    SELECT 'onchain_gone', ${CHAIN}, '${POOLS[0]}', 60, n, 0, 0, 1 FROM generate_series(1, 20001) n`);
  const slow = await pool.connect();
  await slow.query(`BEGIN; SELECT FROM history.trade_bar WHERE index_schema = 'onchain_gone' FOR UPDATE`);
  const writing = writeTradeMinutes(pool);
  await vi.waitUntil(async () => (await barsIn(POOLS[0] ?? '', 60, START, START + 60))[0]?.isFinal, 10_000);
  await slow.query('ROLLBACK');
  slow.release();
  await writing;
  const { rows } = await pool.query('SELECT DISTINCT index_schema FROM history.trade_bar');
  expect(rows).toEqual([{ index_schema: ONCHAIN_SCHEMA }]);
});

test('two writers at once write each minute once', async () => {
  const swaps = Array.from({ length: 200 }, (_, i) => swapAt(START + 20 * i, i, 3n, BigInt(-i - 1)));
  await insert(swaps);
  await setIndexedBlock(database.client, { chainId: CHAIN, number: 999, timestamp: START + 90_000, isFinal: true });
  await Promise.all([writeTradeMinutes(pool, undefined, 7), writeTradeMinutes(pool, undefined, 5)]);
  const bars = await barsIn(POOLS[0] ?? '', 60, START, START + 90_000);
  expect(bars.map(({ isFinal, ...bar }) => bar)).toEqual(barsOf(swaps, POOLS[0] ?? '', 60));
});

test('volume in dollars takes the price of the input token when the minute began, and is null where that is unknown', async () => {
  // 2 whole token0 in, and 3 whole token1 in, one minute; a price that is too old; a token without a price.
  await insert([
    swapAt(START + 60, 1, 2_000_000n, -100n),
    swapAt(START + 61, 2, -5n, 300n),
    swapAt(START + 9_000, 3, 2_000_000n, -100n),
    swapAt(START + 9_060, 4, 0n, 0n),
  ]);
  await database.client.query('SELECT history.keep_partitions($1, $2, 0)', ['fiat_price_minute', START]);
  const price = (token: string, ts: number, usd: number) =>
    database.client.query('INSERT INTO history.fiat_price_minute VALUES ($1, $2, $3, $4, $5)', [
      CHAIN,
      token,
      ts,
      usd,
      'static',
    ]);
  await price(TOKEN0, START, 10);
  await price(TOKEN0, START + 60, 11);
  await price(TOKEN0, START + 120, 999);
  await price(TOKEN1, START, 0.5);
  const usd = async () =>
    (
      await pool.query('SELECT volume_usd FROM read_model.trade_bars($1, $2, 60, $3, $4) ORDER BY start_ts', [
        CHAIN,
        POOLS[0],
        START,
        START + 90_000,
      ])
    ).rows.map((row) => row.volume_usd);
  const expected = [2 * 11 + 3 * 0.5, null, 0];
  await setIndexedBlock(database.client, { chainId: CHAIN, number: 9, timestamp: START, isFinal: true });
  expect(await usd()).toEqual(expected);
  await setIndexedBlock(database.client, { chainId: CHAIN, number: 9, timestamp: START + 90_000, isFinal: true });
  await writeTradeMinutes(pool);
  expect(await usd()).toEqual(expected);
  await expect(pool.query('SELECT volume_usd FROM read_model.trade_candle ORDER BY minute_ts')).resolves.toMatchObject({
    rows: expected.map((volume_usd) => ({ volume_usd })),
  });

  // Another index is made when the prices are gone: what is the same keeps its dollars.
  await insert(
    [swapAt(START + 60, 1, 2_000_000n, -100n), swapAt(START + 61, 2, -5n, 300n), swapAt(START + 180, 3, 1n, 0n)],
    NEXT,
  );
  await database.client.query('UPDATE history.fiat_price_minute SET usd = 7');
  await setIndexedBlock(database.client, { chainId: CHAIN, number: 9, timestamp: START + 90_000, isFinal: true }, NEXT);
  await writeTradeMinutes(pool);
  await publishLiveViews(database.client, NEXT);
  expect(await usd()).toEqual([expected[0], 7e-6]);
});

test('fees keep their dollars in another index only where it has the same fees', async () => {
  await database.client.query('SELECT history.keep_partitions($1, $2, 0)', ['fiat_price_minute', START]);
  await database.client.query('INSERT INTO history.fiat_price_minute VALUES ($1, $2, $3, 10, $4)', [
    CHAIN,
    TOKEN0,
    START,
    'static',
  ]);
  const swaps = [swapAt(START + 60, 1, 2_000_000n, -100n), swapAt(START + 120, 2, 3_000_000n, -100n)];
  // The first index lacked a bin's part of the second swap, as logs that a node leaves out.
  const fees = { [ONCHAIN_SCHEMA]: [4, 5], [NEXT]: [4, 6] };
  for (const [schema, [first, second]] of Object.entries(fees)) {
    await insert(swaps, schema);
    await database.client.query(
      `UPDATE ${schema}.swap s SET lp_fee_scaled = p.token0_scale_multiplier * 1000000 * CASE s.block_number WHEN 1 THEN ${first} ELSE ${second} END
       FROM ${schema}.pool p WHERE p.address = s.pool`,
    );
    await settle(9, START + 600, schema);
    await writeTradeMinutes(pool, schema);
    await database.client.query('UPDATE history.fiat_price_minute SET usd = 7');
  }
  const { rows } = await pool.query(
    'SELECT lp_fee_usd FROM history.trade_bar WHERE index_schema = $1 AND secs = 60 ORDER BY start_ts',
    [NEXT],
  );
  expect(rows).toEqual([{ lp_fee_usd: 4 * 10 }, { lp_fee_usd: 6 * 7 }]);
});

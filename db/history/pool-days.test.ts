import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { liquidityChange, poolActivity, swap } from '../../indexer/ponder.schema.ts';
import { arrayLiteral } from '../../indexer/schema/number-list.ts';
import { TOTAL, TOTAL_NAMES, type TotalName } from '../../protocol/pool-totals.ts';
import { createIndexedDatabase } from '../../test/harness/indexed-database.ts';
import { ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { runs } from '../../test/harness/property-seed.ts';
import {
  openSeeder,
  type Seeder,
  seedAddress,
  seedPools,
  seedToken,
  TOKEN0,
  TOKEN1,
} from '../../test/harness/seed-pools.ts';
import {
  acts,
  CHAIN,
  DAY,
  DAYS,
  DECIMALS0,
  DECIMALS1,
  expectedDays,
  type Logged,
  MULTIPLIER1,
  POOL,
  PRICES,
  play,
  START,
} from './played-pool.fixture.ts';
import { writeTradeMinutes } from './trade-minutes.ts';

const database = startedWorld(createIndexedDatabase);
let pool: pg.Pool;
let seeder: Seeder;

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  pool.on('error', () => undefined); // Dropping the database ends its sessions.
  seeder = openSeeder(database.url);
  await seedToken(seeder.db, { chainId: CHAIN, address: TOKEN0, decimals: DECIMALS0 });
  await seedToken(seeder.db, { chainId: CHAIN, address: TOKEN1, decimals: DECIMALS1 });
  const scale = { token0ScaleMultiplier: 1n, token1ScaleMultiplier: MULTIPLIER1 };
  await seedPools(seeder.db, [{ pool: { chainId: CHAIN, address: POOL, ...scale } }]);
  await pool.query("SELECT history.keep_partitions('fiat_price_hour', $1, 0)", [START]);
  for (const [ts, prices] of PRICES) {
    for (const [n, token] of [TOKEN0, TOKEN1].entries()) {
      await pool.query("INSERT INTO history.fiat_price_hour VALUES ($1, $2, $3, $4, 'x')", [
        CHAIN,
        token,
        ts,
        prices[n],
      ]);
    }
  }
});

afterAll(async () => {
  await seeder?.end();
  await pool?.end();
});

async function index(logged: readonly Logged[], headTs: number): Promise<void> {
  const tables = ['swap', 'liquidity_change', 'pool_activity', '_ponder_checkpoint'].map(
    (name) => `${ONCHAIN_SCHEMA}.${name}`,
  );
  await pool.query(`TRUNCATE history.trade_mark, history.trade_bar, ${tables.join()}`);
  for (const [n, { ts, isSwap, amounts, lpFee, totals }] of logged.entries()) {
    const [amount0Raw, amount1Raw] = amounts;
    const transactionHash = `0x${n.toString(16).padStart(64, '0')}` as const;
    const sent = { transactionIndex: 0, transactionFrom: seedAddress(7) };
    const place = {
      chainId: CHAIN,
      blockNumber: n,
      blockTimestamp: ts,
      logIndex: 0,
      transactionHash,
      pool: POOL,
      ...sent,
    };
    if (isSwap) {
      const who = {
        sender: seedAddress(n % 3),
        recipient: seedAddress(6),
        exactInput: true,
        zeroForOne: amount0Raw > 0n,
      };
      const fees = {
        lpFeeScaled: lpFee,
        protocolFeeScaled: 0n,
        notionalFeeScaled: 0n,
        curBinIdx: 0,
        curPosInBin: 0n,
        parts: '{}',
      };
      await seeder.db.insert(swap).values({ ...place, ...who, ...fees, amount0Raw, amount1Raw });
    } else {
      const deltas = {
        delta0Scaled: 0n,
        delta1Scaled: 0n,
        salt: 0n,
        provider: seedAddress(7),
        direction: amount0Raw > 0n ? 'added' : 'removed',
      };
      await seeder.db.insert(liquidityChange).values({ ...place, ...deltas, amount0Raw, amount1Raw });
    }
    const list = arrayLiteral(
      TOTAL_NAMES.toSorted((a, b) => TOTAL[a] - TOTAL[b]).map((name) => totals.get(name) ?? 0n),
    );
    const row = { chainId: CHAIN, pool: POOL, blockNumber: n, blockTimestamp: ts, totals: list };
    const { blockNumber, totals: newest } = row;
    const target = [poolActivity.chainId, poolActivity.pool, poolActivity.blockTimestamp];
    await seeder.db
      .insert(poolActivity)
      .values(row)
      .onConflictDoUpdate({ target, set: { blockNumber, totals: newest } });
  }
  await setIndexedBlock(pool, { chainId: CHAIN, number: 10_000, timestamp: headTs, isFinal: true });
  await writeTradeMinutes(pool);
}

const near = (value: number | null) =>
  value === null ? null : expect.closeTo(value, 9 - Math.ceil(Math.log10(Math.abs(value) + 1)));

const seen = { days: 0, returns: 0, unknown: 0 };

/** What draws need not have: liquidity that changes by day, once at an hour without prices. */
const CHANGES_DAILY = [1, 33, 49, 73].map((hour, n, hours) => ({
  gapSecs: (hour - (hours[n - 1] ?? 0)) * 3_600,
  kind: 'add' as const,
  part: 50_000,
}));

test('fees, TVL and LP return of days are those of playing all that a pool did, whatever it did', async () => {
  let priced = () => Promise.resolve();
  await fc.assert(
    fc.asyncProperty(acts, fc.integer({ min: 0, max: DAYS * DAY - 1 }), async (list, after) => {
      const first = { gapSecs: 0, kind: 'add', part: 150_000 } as const;
      const logged = play([first, ...list]);
      const headTs = Math.max(logged.at(-1)?.ts ?? 0, START + after) + 1;
      await index(logged, headTs);
      const { rows } = await pool.query(
        `SELECT day_ts::int8::float8 AS day_ts, is_final, lp_fee0_raw, lp_fee1_raw, lp_fee_usd, tvl0_raw, tvl1_raw, tvl_usd, lp_return
         FROM read_model.pool_day WHERE chain_id = $1 AND pool = $2 ORDER BY day_ts DESC`,
        [CHAIN, POOL],
      );
      const expected = expectedDays(logged, headTs);
      expect(rows).toEqual(
        expected.map((day) => ({
          ...day,
          lp_fee_usd: near(day.lp_fee_usd),
          tvl_usd: near(day.tvl_usd),
          lp_return: near(day.lp_return),
        })),
      );
      const [, second] = expected;
      if (second) {
        const page = await pool.query('SELECT day_ts FROM read_model.pool_days($1, $2, $3, 1)', [
          CHAIN,
          POOL,
          second.day_ts + 1,
        ]);
        expect(page.rows).toEqual([{ day_ts: String(second.day_ts) }]);
      }
      for (const role of ['analyst', 'ptd_api']) {
        await pool.query(`SET ROLE ${role}; SELECT lp_return FROM read_model.pool_day; RESET ROLE`);
      }
      if (rows.some(({ tvl_usd }) => tvl_usd > 0)) priced = () => index(logged, headTs);
      seen.days += rows.length;
      seen.returns += rows.filter(({ lp_return }) => lp_return !== null && lp_return !== 0).length;
      seen.unknown += rows.filter(({ lp_return }) => lp_return === null).length;
    }),
    { numRuns: runs(20), examples: [[CHANGES_DAILY, DAYS * DAY - 1]] },
  );
  // Of the minutes, which are dropped before the hours, no day's value depends.
  const values = 'SELECT day_ts, tvl_usd, lp_return FROM read_model.pool_day ORDER BY day_ts';
  await priced();
  const before = await pool.query(values);
  expect(before.rows.some(({ tvl_usd }) => tvl_usd > 0)).toBe(true);
  for (const ts of Array.from({ length: DAYS }, (_, day) => START + day * DAY)) {
    await pool.query("SELECT history.keep_partitions('fiat_price_minute', $1, 0)", [ts]);
  }
  await pool.query(
    'INSERT INTO history.fiat_price_minute SELECT chain_id, token, ts, usd * 3, source FROM history.fiat_price_hour',
  );
  expect((await pool.query(values)).rows).toEqual(before.rows);
  expect(seen.returns).toBeGreaterThan(10);
  expect(seen.unknown).toBeGreaterThan(0);
});

test('a second whose swaps cost more than the dust before it leaves days without a return, and no error', async () => {
  const before = { lpFee: 0n, owned: [0n, 0n] as const };
  const totals = (...counted: readonly (readonly [TotalName, bigint])[]) => new Map(counted);
  const [dust, added, sold] = [3n, 10n ** 18n, 10n ** 17n];
  const [first, later] = [START + 40, START + 100];
  await index(
    [
      { ...before, ts: first, isSwap: false, amounts: [dust, 0n], totals: totals(['liquidityIn0Raw', dust]) },
      { ...before, ts: later, isSwap: false, amounts: [added, 0n], totals: totals(['liquidityIn0Raw', dust + added]) },
      {
        ...before,
        ts: later,
        isSwap: true,
        amounts: [-sold, 1n],
        totals: totals(['liquidityIn0Raw', dust + added], ['swapOut0Raw', sold], ['swapIn1Raw', 1n]),
      },
    ],
    later + 1,
  );
  const { rows } = await pool.query('SELECT tvl0_raw, lp_return FROM read_model.pool_day');
  expect(rows).toEqual([{ tvl0_raw: String(dust + added - sold), lp_return: null }]);
});

test('gains of dust that exceed a float leave days without a return, and no error', async () => {
  const totals = new Map<TotalName, bigint>();
  const count = (name: TotalName, by: bigint) => totals.set(name, (totals.get(name) ?? 0n) + by);
  const whole = 10n ** 24n;
  const logged = Array.from({ length: 20 }, (_, n): Logged[] => {
    const at = (act: Pick<Logged, 'isSwap' | 'amounts' | 'ts'>) => ({
      ...act,
      lpFee: 0n,
      owned: [0n, 0n] as const,
      totals: new Map(totals),
    });
    count('liquidityIn0Raw', 1n);
    const dust = at({ ts: START + 10 * n, isSwap: false, amounts: [1n, 0n] });
    count('swapIn0Raw', whole);
    const given = at({ ts: START + 10 * n + 1, isSwap: true, amounts: [whole, 0n] });
    count('liquidityOut0Raw', whole + 1n);
    return [dust, given, at({ ts: START + 10 * n + 2, isSwap: false, amounts: [-whole - 1n, 0n] })];
  }).flat();
  await index(logged, START + 1_000);
  const { rows } = await pool.query('SELECT lp_return FROM read_model.pool_day');
  expect(rows).toEqual([{ lp_return: null }]);
});

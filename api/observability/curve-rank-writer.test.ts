import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { createDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import type { CurveReport } from './curve-metrics.ts';
import { CurveRankWriter } from './curve-rank-writer.ts';

const [POOL, OTHER] = [seedAddress(1), seedAddress(2)];

let testDatabase: TestDatabase;
let database: pg.Pool;
const logged: string[] = [];
const opened: CurveRankWriter[] = [];

beforeAll(async () => {
  testDatabase = await createDatabase();
  await migrate(testDatabase.url);
  database = new pg.Pool({ connectionString: testDatabase.url, max: 1 });
});

afterAll(async () => {
  await Promise.all(opened.map((writer) => writer.stop()));
  await database.end();
  await testDatabase.drop();
});

/** Writes only when it is told to. */
function openWriter(): CurveRankWriter {
  const log = (_: unknown, message?: unknown) => void logged.push(String(message ?? _));
  const writer = new CurveRankWriter({
    database,
    logger: { info: log, warn: log } as never,
    rememberedPools: 10_000,
    pauseMs: 3_600_000,
  });
  opened.push(writer);
  return writer;
}

const report = (pool: CurveReport['pool'], rank: CurveReport['rank'], blockNumber: number): CurveReport => ({
  pool,
  rank,
  blockNumber,
  dropped: null,
  whyNotCheaper: rank === 'formula' ? null : `why ${rank}`,
});

async function stored() {
  const { rows } = await database.query(
    `SELECT chain_id::int AS chain, pool, rank, why_not_cheaper AS why, block_number::int AS block, now() - seen_at < '1 minute' AS recent
     FROM read_model.curve_rank ORDER BY chain_id, pool`,
  );
  return rows;
}

test('the rank of each pool is written once it changes, all that changed together', async () => {
  const writer = openWriter();
  const [note, noteOther] = [writer.of(7), writer.of(8)];
  for (const each of [report(POOL, 'fit', 1), report(OTHER, 'none', 1), report(POOL, 'formula', 2)]) note(each);
  noteOther(report(POOL, 'simulation', 3));
  expect(await stored()).toEqual([]);
  await writer.flush();
  const rows = [
    { chain: 7, pool: POOL, rank: 'formula', why: null, block: 2, recent: true },
    { chain: 7, pool: OTHER, rank: 'none', why: 'why none', block: 1, recent: true },
    { chain: 8, pool: POOL, rank: 'simulation', why: 'why simulation', block: 3, recent: true },
  ];
  expect(await stored()).toEqual(rows);
  note(report(POOL, 'formula', 9));
  note(report(OTHER, 'fit', 9));
  await writer.flush();
  expect(await stored()).toEqual([rows[0], { ...rows[1], rank: 'fit', why: 'why fit', block: 9 }, rows[2]]);
});

test('another process that sees another rank writes it too', async () => {
  const other = openWriter();
  other.of(8)(report(POOL, 'fit', 20));
  await other.stop();
  expect((await stored()).at(-1)).toMatchObject({ rank: 'fit', block: 20 });
});

test('what the database does not take waits for the next time, and is told once', async () => {
  const writer = openWriter();
  await database.query('ALTER TABLE operator.curve_rank RENAME TO gone');
  writer.of(7)(report(POOL, 'none', 30));
  await writer.flush();
  writer.of(7)(report(OTHER, 'none', 31));
  await writer.flush();
  expect(logged).toEqual(['ranks of curves were not written: they wait']);
  await database.query('ALTER TABLE operator.gone RENAME TO curve_rank');
  await writer.flush();
  expect(logged.at(-1)).toBe('ranks of curves are written again');
  expect((await stored()).slice(0, 2)).toMatchObject([
    { pool: POOL, rank: 'none', block: 30 },
    { pool: OTHER, rank: 'none', block: 31 },
  ]);
});

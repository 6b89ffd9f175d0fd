import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { ownMain } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { startedWorld } from '../harness/open-world.ts';
import { DAY, openHistory, START } from '../harness/seed-history.ts';

/** 70 MB: installed by npm when it is needed, into its cache. */
const DUCKDB = '@duckdb/node-api@1.5.6-r.1';
/** The package lies beside the programs that npm puts in front of the path. */
const SCRIPT = `
  const { delimiter, join } = require('node:path');
  const { DuckDBInstance } = require(join(process.env.PATH.split(delimiter)[0], '../@duckdb/node-api'));
  DuckDBInstance.create(':memory:')
    .then((instance) => instance.connect())
    .then((connection) => connection.runAndReadAll(process.argv[1]))
    .then((result) => process.stdout.write(JSON.stringify(result.getRowsJson())));`;

const out = startedWorld(() => createTempFolder('export-soak'));
const history = startedWorld(openHistory);

async function duckdb(query: string): Promise<unknown> {
  const args = ['exec', '--yes', `--package=${DUCKDB}`, '--', 'node', '-e', SCRIPT, query];
  const { stdout } = await execa('npm', args, { cwd: out.path });
  return JSON.parse(stdout);
}

/** Columns that are summed, by view. */
const SUMS = {
  trade_candle: ['volume0_raw', 'volume1_raw', 'swap_count'],
  pool_day: ['volume0_raw', 'balance0_raw', 'balance1_raw', 'sender_count'],
  quote_sample: ['bid_x64', 'mid_x64', 'block_number'],
  fill_quality: ['swap_count', 'compared_count'],
  fiat_price_history: ['ts', 'interval_secs'],
  dex_trades: ['token_bought_amount_raw', 'token_sold_amount_raw', 'evt_index'],
};
const TIMES = {
  trade_candle: 'minute_ts',
  pool_day: 'day_ts',
  quote_sample: 'block_timestamp',
  fill_quality: 'day_ts',
  fiat_price_history: 'ts',
  dex_trades: 'block_timestamp',
};
/** The pool or token of a row, where that is not `pool`. */
const SUBJECTS: Readonly<Record<string, string>> = {
  fiat_price_history: 'token',
  dex_trades: 'project_contract_address',
};

test.each(Object.entries(SUMS))(
  'DuckDB over Parquet of %s gives the sums of SQL, to the unit',
  async (view, columns) => {
    const days = ['--from', '2026-11-18', '--to', '2026-11-21'];
    const args = ['--view', view, ...days, '--format', 'parquet', '--out', join(out.path, 'history')];
    await execa('node', [...ownMain('export'), ...args], { env: { DATABASE_URL: history.url } });
    const subject = SUBJECTS[view] ?? 'pool';
    const query = (table: string, where: string) =>
      `SELECT chain_id::text, ${subject}, count(*)::text, ${columns.map((name) => `sum(${name})::text`).join()}
     FROM ${table} WHERE ${where} GROUP BY 1, 2 ORDER BY 1, 2`;
    // Amounts of the third pool have more digits than a decimal: they are in `oversized`.
    const small = `${subject} <> '0x${'3'.padStart(40, '0')}'`;
    const time = TIMES[view as keyof typeof TIMES];
    const expected = await history.client.query({
      text: query(`read_model.${view}`, `${small} AND ${time} < ${START + 2 * DAY}`),
      rowMode: 'array',
    });
    const found = await duckdb(query(`read_parquet('history/${view}/*/*.parquet')`, small));
    expect(expected.rows.length).toBeGreaterThan(1);
    expect(found).toEqual(expected.rows);
  },
  300_000,
);

test('the query of the document runs, and finds amounts of more than 38 digits', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/use/sql.md'), 'utf8');
  const query = /```text\n(SELECT [^`]+read_parquet[^`]+)```/.exec(page)?.[1] ?? '';
  const { rows } = await history.client.query<{ pool: string; volume: string }>(
    `SELECT pool, sum(volume0_raw) AS volume FROM read_model.trade_candle
     WHERE chain_id = 5 AND minute_ts < ${START + 2 * DAY} GROUP BY 1 ORDER BY 1`,
  );
  const found = (await duckdb(query)) as [pool: string, volume: string | null, oversized: string][];
  const ordered = found.toSorted(([one], [other]) => (one < other ? -1 : 1));
  expect(ordered.map(([pool]) => pool)).toEqual(rows.map(({ pool }) => pool));
  expect(ordered.slice(0, 2).map(([, volume]) => volume)).toEqual(rows.slice(0, 2).map(({ volume }) => volume));
  expect(ordered.map(([, , oversized]) => Number(oversized) > 0)).toEqual([false, false, true]);
}, 300_000);

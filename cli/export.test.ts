import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ownMain } from '../local/services/own-process.ts';
import { loginUrl } from '../local/services/process-logins.ts';
import { readParquet } from '../test/harness/read-parquet.ts';
import { CHAINS, DAY, openHistory, type SeededHistory, START } from '../test/harness/seed-history.ts';

vi.setConfig({ testTimeout: 180_000 });

const LOGIN = `analyst_${randomBytes(4).toString('hex')}`;
const PASSWORD = 'not-a-secret';
const DAYS = ['2026-11-18', '2026-11-19', '2026-11-20'];
const VIEWS = [
  'trade_candle',
  'quote_sample',
  'pool_day',
  'fill_quality',
  'fiat_price_history',
  'dex_trades',
  'quote_persistence',
];

let history: SeededHistory;
let analystUrl: string;
const out = mkdtempSync(join(tmpdir(), 'export-'));

beforeAll(async () => {
  history = await openHistory();
  await history.client.query(`CREATE ROLE ${LOGIN} LOGIN PASSWORD '${PASSWORD}' IN ROLE analyst`);
  const url = new URL(history.url);
  [url.username, url.password] = [LOGIN, PASSWORD];
  analystUrl = url.href;
});

afterAll(async () => {
  await history.client.query(`DROP ROLE ${LOGIN}`);
  await history.drop();
  rmSync(out, { recursive: true, force: true });
});

const command = (view: string, format: string, folder: string, ...more: string[]) => {
  const days = ['--from', DAYS[0] as string, '--to', '2026-11-21'];
  return ['--view', view, ...days, '--format', format, '--out', folder, ...more];
};
async function runExport(args: readonly string[], url = analystUrl) {
  const { exitCode, stdout, stderr } = await execa('node', [...ownMain('export'), ...args], {
    env: { DATABASE_URL: url },
    reject: false,
  });
  return { exitCode, stdout, stderr };
}
const endOf = (stdout: string) => JSON.parse(stdout.split('\n').at(-1) ?? '');
const filesOf = (view: string, chain: number, format: string) =>
  readdirSync(join(out, view, String(chain))).filter((name) => name.endsWith(format));

/** How types are read of which the driver would make floats or dates: lists of numbers, times and days. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  1231: (list) => list.slice(1, -1).split(','),
  1184: (time) => new Date(time).toISOString().replace('.000Z', 'Z'),
  1082: (day) => day,
};

/** Rows of a view that are final, as texts. */
async function rowsOf(view: string, time: string): Promise<Record<string, string | null>[]> {
  const order = view === 'dex_trades' ? 'block_number, evt_index' : `2, ${time}, 4, 5`;
  const { rows } = await history.client.query({
    text: `SELECT * FROM read_model.${view} WHERE ${time} < $1 ORDER BY chain_id, ${time} / ${DAY}, ${order}`,
    values: [START + 2 * DAY],
    types: { getTypeParser: (oid: number) => PARSERS[oid] ?? pg.types.getTypeParser(oid) },
  });
  return rows;
}
const TIMES = ['minute_ts', 'block_timestamp', 'day_ts', 'day_ts', 'ts', 'block_timestamp', 'day_ts'];

test.each(VIEWS.map((view, index) => [view, TIMES[index] as string]))(
  'Parquet of %s has every row of the final days of each chain as SQL has them',
  async (view, time) => {
    const { exitCode, stdout, stderr } = await runExport(command(view, 'parquet', out, '--json'));
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const expected = await rowsOf(view, time);
    expect(expected.length).toBeGreaterThan(3);
    const read = [];
    for (const chain of CHAINS) {
      expect(filesOf(view, chain, '.parquet').every((name) => DAYS.slice(0, 2).includes(name.slice(0, 10)))).toBe(true);
      for (const name of filesOf(view, chain, '.parquet'))
        read.push(...(await readParquet(join(out, view, String(chain), name))));
    }
    expect(read.map((row) => shown(row, expected[0] ?? {}))).toEqual(expected.map((row) => texts(row)));
    expect(endOf(stdout)).toMatchObject({ type: 'end', rows: expected.length, kept: 0, notFinal: CHAINS.length });
    const oversized = read.filter((row) => row.oversized !== null);
    expect(oversized.length > 0).toBe(!['fill_quality', 'fiat_price_history', 'quote_persistence'].includes(view));
  },
);

test('pool_yields is written to the file of the day that its listing is of, and stays', async () => {
  await history.client.query(
    `INSERT INTO operator.listing_window SELECT unnest(ARRAY[${CHAINS}]), 1, 0, ${START + DAY + 60}, 1, 2, ${START + DAY + 61};
     INSERT INTO operator.listed_pool SELECT chain_id, address, token0, token1, '{"chain":"five"}', '{"aprBps":1234}', '{}' FROM read_model.pool;
     INSERT INTO operator.pool_listing SELECT chain_id, address, address, 'v1', 1, 'green', 3, null, null, null, null, false, false, 1e6 / chain_id, 7.5
       FROM read_model.pool`,
  );
  const { stdout } = await runExport(command('pool_yields', 'parquet', out, '--json'));
  const { rows } = await history.client.query('SELECT * FROM read_model.pool_yields ORDER BY chain_id, pool');
  expect(rows).toHaveLength(6);
  const listed = rows.map((row) => ({ ...texts(row), underlyingTokens: JSON.stringify(row.underlyingTokens) }));
  for (const format of ['parquet', 'csv']) await runExport(command('pool_yields', format, out));
  const read = [];
  for (const chain of CHAINS) {
    expect(readdirSync(join(out, 'pool_yields', String(chain)))).toEqual(['2026-11-19.csv', '2026-11-19.parquet']);
    read.push(...(await readParquet(join(out, 'pool_yields', String(chain), '2026-11-19.parquet'))));
  }
  expect(read.map((row) => shown(row, rows[0]))).toEqual(listed);
  expect(read[0]).toMatchObject({ tvlUsd: 200_000, apyBase: 12.34, apyBase7d: null, volumeUsd1d: 7.5 });
  expect(endOf(stdout)).toMatchObject({ files: 2, rows: 6, notFinal: 0 });
  await history.client.query(`UPDATE operator.listing_window SET to_ts = to_ts + ${DAY}`);
  const next = await runExport(command('pool_yields', 'csv', out, '--json'));
  expect(endOf(next.stdout)).toMatchObject({ files: 2, rows: 6, kept: 2 });
});

/** A row of a file as SQL shows it: prices as pairs, decimals with their point. */
function shown(row: Record<string, unknown>, like: object): Record<string, string | null> {
  const oversized = JSON.parse(String(row.oversized ?? '{}'));
  const text = (name: string) => {
    const value = row[name] ?? oversized[name] ?? null;
    if (name === 'mid_x64' && typeof value === 'bigint') return `${value / 10n}.${value % 10n}`;
    return value === null ? null : String(value);
  };
  return Object.fromEntries(
    Object.keys(like).map((name) => {
      const [, priceOf] = /^(.+)_price$/.exec(name) ?? [];
      if (priceOf === undefined) return [name, text(name)];
      const pair = [0, 1].map((token) => text(`${priceOf}_amount${token}_raw`));
      return [name, pair.includes(null) ? null : pair.join(':')];
    }),
  );
}

const texts = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null ? null : Array.isArray(value) ? value.join(':') : String(value),
    ]),
  );

test('CSV has the same sums', async () => {
  const { exitCode, stdout } = await runExport(command('trade_candle', 'csv', out));
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^2 of 6 days|^1 of 6 days/);
  let [rows, volume] = [0, 0n];
  for (const chain of CHAINS) {
    for (const name of filesOf('trade_candle', chain, '.csv')) {
      const [head = '', ...lines] = readFileSync(join(out, 'trade_candle', String(chain), name), 'utf8')
        .trim()
        .split('\n');
      const column = head.split(',').indexOf('volume0_raw');
      rows += lines.length;
      for (const line of lines) volume += BigInt(line.split(',')[column] ?? '');
    }
  }
  const { rows: sums } = await history.client.query(
    'SELECT count(*) AS n, sum(volume0_raw) AS volume FROM read_model.trade_candle WHERE minute_ts < $1',
    [START + 2 * DAY],
  );
  expect([String(rows), String(volume)]).toEqual([sums[0].n, sums[0].volume]);
});

test('files that are there stay, days without one are written, and --force writes all', async () => {
  const folder = join(out, 'again');
  const path = (day: number) => join(folder, 'trade_candle', String(CHAINS[0]), `${DAYS[day]}.parquet`);
  await runExport(command('trade_candle', 'parquet', folder));
  const first = readFileSync(path(0));
  writeFileSync(path(0), 'mine');
  rmSync(path(1));
  // What a killed run leaves.
  writeFileSync(`${path(1)}.partial`, 'half');
  const again = await runExport(command('trade_candle', 'parquet', folder, '--json'));
  expect(endOf(again.stdout)).toMatchObject({ files: 1, kept: 2 * CHAINS.length - 1 });
  expect([readFileSync(path(0), 'utf8'), existsSync(path(1)), existsSync(`${path(1)}.partial`)]).toEqual([
    'mine',
    true,
    false,
  ]);
  const forced = await runExport(command('trade_candle', 'parquet', folder, '--json', '--force'));
  expect(endOf(forced.stdout)).toMatchObject({ files: 2 * CHAINS.length, kept: 0 });
  expect(readFileSync(path(0)).equals(first)).toBe(true);
});

test('--force removes the file of a day that lost its rows, but none that cannot be written again', async () => {
  const folder = join(out, 'emptied');
  const path = (view: string) => join(folder, view, String(CHAINS[0]), '2026-11-17.csv');
  for (const view of ['trade_candle', 'quote_sample']) {
    await runExport(command(view, 'csv', folder));
    writeFileSync(path(view), 'of before');
    await runExport(command(view, 'csv', folder, '--from', '2026-11-17', '--force'));
  }
  expect([existsSync(path('trade_candle')), existsSync(path('quote_sample'))]).toEqual([false, true]);
});

test('a day is written once it is final', async () => {
  const folder = join(out, 'later');
  await runExport(command('pool_day', 'parquet', folder));
  await history.finalise(START + 3 * DAY + 60);
  const later = await runExport(command('pool_day', 'parquet', folder, '--json'));
  expect(endOf(later.stdout)).toMatchObject({ files: CHAINS.length, kept: 2 * CHAINS.length, notFinal: 0 });
  // A quote whose block may still be undone holds its day, and later ones, back.
  await history.client.query('UPDATE history.fill SET is_final = false WHERE block_timestamp >= $1', [START + DAY]);
  const held = await runExport(command('fill_quality', 'csv', folder, '--json'));
  expect(endOf(held.stdout)).toMatchObject({ files: CHAINS.length, notFinal: 2 * CHAINS.length });
  await history.client.query('UPDATE history.fill SET is_final = true');
});

test('days of persistence wait until capture writes them no more', async () => {
  const { client } = history;
  const sql = readFileSync(new URL('export/final-until.sql', import.meta.url), 'utf8');
  const secsUntilFinal = async (view: string): Promise<number> => {
    const text = `SELECT (extract(epoch FROM now()) - "untilTs")::float8 AS secs FROM (${sql}) final`;
    const { rows } = await client.query(text, [CHAINS[0], view]);
    return Math.round(rows[0].secs);
  };
  await client.query('BEGIN; UPDATE history.trade_mark SET until_ts = 1e10');
  expect(await secsUntilFinal('quote_sample')).toBe(3_600);
  // Runs are an hour apart, and write the day before until 70 minutes after midnight.
  expect(await secsUntilFinal('quote_persistence')).toBe(7_200);
  await client.query('ROLLBACK');
});

test('killed in the middle, it leaves whole files and continues', async () => {
  const folder = join(out, 'killed');
  await history.addMinutes(60_000);
  const args = [...ownMain('export'), ...command('trade_candle', 'parquet', folder, '--json')];
  const child = execa('node', args, { env: { DATABASE_URL: analystUrl }, reject: false });
  child.stdout.once('data', () => child.kill('SIGKILL'));
  await child;
  const { exitCode } = await runExport(command('trade_candle', 'parquet', folder));
  expect(exitCode).toBe(0);
  let rows = 0;
  for (const chain of CHAINS) {
    const home = join(folder, 'trade_candle', String(chain));
    expect(readdirSync(home).filter((name) => name.endsWith('.partial'))).toEqual([]);
    for (const name of readdirSync(home)) rows += (await readParquet(join(home, name))).length;
  }
  const { rows: counted } = await history.client.query('SELECT count(*)::int AS n FROM read_model.trade_candle');
  expect(rows).toBe(counted[0].n);
});

test('wrong arguments, folders and logins end it with one line', async () => {
  const view = await runExport([
    '--view',
    'swap',
    '--from',
    '2026-11-18',
    '--to',
    '2026-11-19',
    '--format',
    'csv',
    '--out',
    out,
  ]);
  expect(view).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("'swap' is invalid") });
  for (const day of ['2026-02-30', '2026-1-1', 'today']) {
    const { exitCode, stderr } = await runExport([...command('pool_day', 'csv', out), '--from', day]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('not a day such as')]);
  }
  const none = await runExport([...command('pool_day', 'csv', out), '--to', DAYS[0] as string]);
  expect([none.exitCode, none.stderr]).toEqual([1, '--to: not after --from']);
  writeFileSync(join(out, 'file'), '');
  const blocked = await runExport(command('pool_day', 'csv', join(out, 'file')));
  expect([blocked.exitCode, blocked.stderr]).toEqual([1, expect.stringMatching(/^--out cannot be written: [^\n]+$/)]);
  const operator = new URL(history.url);
  operator.username = 'operator';
  const refused = await runExport(command('pool_day', 'csv', out), operator.href);
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/^DATABASE_URL: [^\n]+$/)]);
  const unable = await runExport(command('pool_day', 'csv', out), loginUrl(history.url, 'keys'));
  const use = "use an analyst's login, such as ANALYST_DATABASE_URL of npm start";
  const stderr = `DATABASE_URL: permission denied to set role "analyst": ${use}`;
  expect([unable.exitCode, unable.stderr]).toEqual([1, stderr]);
});

test('it has help with examples and exit codes, and refuses what it does not know', async () => {
  const help = await runExport(['--help']);
  expect(help.stdout).toMatch(/Examples:\n +npm run [\s\S]+--json[\s\S]+Exit codes: 0 /);
  const unknown = await runExport([...command('pool_day', 'csv', out), '--unknown']);
  expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("unknown option '--unknown'")]);
});
